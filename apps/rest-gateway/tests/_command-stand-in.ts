import { identityCatalog, productCatalog, type CommandType } from '@longwave/command-catalog';
import { decideAccess } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest } from '@longwave/rpc/command';
import { podcastOf, visibleFixtures } from './_fixtures.ts';
import { principalOf } from './_principals.ts';
import type { GivenAnswer, Scene } from './_scene.ts';

const operationId = 'op_0000000000000000000000000a';
const catalog = { ...productCatalog.commands, ...identityCatalog.commands };

/** Commands, as management and auth-server answer them: with what the scene gives. */
export function commandStandIn(scene: Scene): RpcService {
  const { current, visible } = visibleFixtures(scene);
  /** Refuses what management refuses before the rule of a command: an invisible subject, a missing role, a subject that is gone. */
  function decideOnSubject(request: ExecuteRequest, statement: string | undefined, answer: GivenAnswer | undefined) {
    const { subjectType, subjectId, commandType } = request;
    const subject = visible(statement, subjectType).find(({ id }) => id === subjectId);
    if (!subject) throw new Problem('not_found', `There is no such thing as ${subjectId}.`);
    if (answer && 'replayed' in answer) return;
    const { roles } = catalog[commandType as CommandType];
    const target = { workspaceId: subject.workspace_id, podcastId: podcastOf(subject) };
    if (decideAccess(principalOf(statement), target, { roles }).outcome !== 'permitted')
      throw new Problem('permission_denied', `You may not send ${commandType}.`);
    if (!answer && ['archived', 'deleted', 'aborted', 'expired'].includes(subject.lifecycle_state))
      throw new Problem('state_not_allowed', `It is ${subject.lifecycle_state}.`);
  }
  return rpcService(
    CommandServiceService,
    { execute: ['rest-gateway'] },
    {
      execute: async (request, { deadline, principalStatement }) => {
        scene.deadlines.push(deadline);
        const count = scene.commands.filter(({ commandType }) => commandType === request.commandType).length;
        const answer = scene.given.commands?.[request.commandType]?.[count];
        if (request.subjectId !== '') decideOnSubject(request, principalStatement, answer);
        scene.commands.push(request);
        if (!answer) throw new Error(`nothing given for ${request.commandType} number ${count}`);
        if ('problem' in answer) {
          const { code, detail, field, ...context } = answer.problem;
          throw new Problem(
            code,
            detail,
            field ? { errors: [{ path: `/changes/${field}`, code: 'given', detail: detail ?? '' }] } : context,
          );
        }
        const resourceJson = JSON.stringify(current(answer.resource));
        const operationJson = JSON.stringify({ id: operationId, consequences: answer.consequences });
        const disclosed = answer.disclosed && { disclosedJson: JSON.stringify(answer.disclosed) };
        return { operationJson, resourceJson, status: 200, replayed: answer.replayed ?? false, ...disclosed };
      },
    },
  );
}

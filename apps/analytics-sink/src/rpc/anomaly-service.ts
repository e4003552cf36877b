import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { AnomalyServiceService } from '@longwave/rpc/audience';
import { decideRequest, listRequest, wireAnomaly } from '../velocity/anomaly-requests.ts';
import { decideAnomaly, listAnomalies } from '../velocity/decide-anomaly.ts';

/** Days that rule 16 holds, for the operator alone: listener and address keys belong to no workspace. */
export function anomalyService(pool: Pool, listsVersion: string): RpcService {
  return rpcService(
    AnomalyServiceService,
    { listAnomalies: ['operator'], decideAnomaly: ['operator'] },
    {
      listAnomalies: async (request) => {
        const { undecided } = parseOrProblem(listRequest, request);
        return { anomalies: (await listAnomalies(pool, undecided)).map(wireAnomaly) };
      },
      decideAnomaly: async (request) => {
        const decision = parseOrProblem(decideRequest, request);
        return { anomaly: wireAnomaly(await decideAnomaly(pool, decision, listsVersion)) };
      },
    },
  );
}

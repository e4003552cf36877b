import { memberPermissions } from '@longwave/command-catalog';
import type { grantedRoles } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { Member } from '@longwave/rpc/credential';
import { z } from 'zod';
import { listMembers, listMembershipIds } from '../accounts/account-list-table.ts';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { acceptInvitation, declineInvitation, type AnswerDeps } from '../invitations/answer-invitation.ts';
import { findWithheldMails, listInvitationsOf, type Invitation } from '../invitations/invitation-table.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html, type Html } from '../pages/html.ts';
import { emailField } from '../passwords/password-fields.ts';
import { listAccountsOf, type ReachableAccount } from '../users/user-table.ts';
import { askedButtonForm, buttonForm, isManager, notice, timeText, type SignedIn } from './settings-parts.ts';

export type MembersPageDeps = AnswerDeps;

type Permission = (typeof memberPermissions)[number];

const permissionNames: Readonly<Record<Permission, string>> = {
  edit: 'Edit podcasts and episodes',
  encode: 'Upload and encode audio',
  publish: 'Publish and schedule',
  view_analytics: 'See analytics',
  manage_members: 'Manage members and keys',
  review: 'Review changes',
};

const roleNames = { editor: 'Edit the podcast and see its analytics', analyst: 'See its analytics' } as const;

const grantNames: Readonly<Record<(typeof grantedRoles)[number], string>> = {
  viewer: 'See everything, change nothing',
  trafficker: 'Set up campaigns, line items and creatives',
  sales: 'Sell: advertisers, campaigns, products and prices',
  reviewer: 'Review changes',
  finance: 'Work on prices, statements and payments',
  publisher: 'Publish podcasts, episodes and breaks for ads',
  admin: 'Manage the workspace, its policies and who has a role in it',
};

/** The permissions, the work or the role of an invitation, in words. */
function giftsOf({ offer }: Invitation): readonly string[] {
  if ('grant' in offer) return [grantNames[offer.grant.role]];
  return 'podcast' in offer
    ? offer.roles.map((role) => roleNames[role])
    : offer.permissions.map((permission) => permissionNames[permission]);
}

/** The podcasts of an invitation, as the end of a sentence; empty for the whole organization. */
function placeOf({ offer }: Invitation): string {
  const titles = 'grant' in offer ? offer.grant.podcasts : 'podcast' in offer ? [offer.podcast] : [];
  return titles.length === 0 ? '' : ` to ${titles.map((title) => `“${title}”`).join(', ')}`;
}

const maxShown = 200;

const permissionChoice = (id: string, chosen: readonly string[]) =>
  html`<fieldset>
    <legend>Permissions</legend>
    ${memberPermissions.map(
      (permission) =>
        html`<div class="choice">
          <input
            type="checkbox"
            id="${id}-${permission}"
            name="permissions"
            value="${permission}"
            ${chosen.includes(permission) && html`checked`}
          />
          <label for="${id}-${permission}">${permissionNames[permission]}</label>
        </div>`,
    )}
  </fieldset>`;

const memberPart = (visit: SignedIn, { id, name, email, state, permissions }: Member, isMailWithheld: boolean) => {
  const title = name === '' ? email : name;
  return html`<section class="card" aria-labelledby="${id}">
    <div class="actions">
      <h2 id="${id}">${title}</h2>
      ${state === 'invited' && html`<span class="tag warn">Invited</span>`}
    </div>
    ${name !== '' && html`<p>${email}</p>`}
    ${
      state === 'invited' &&
      isMailWithheld &&
      html`<p class="note bad">
        No mail was sent: there were too many, or the address takes none. The invitation waits on the page Members of
        this person.
      </p>`
    }
    <form method="post" action="/settings/members/revise">
      ${formTokenField(visit.formToken)}<input type="hidden" name="id" value="${id}" />
      ${permissionChoice(id, permissions)}
      <button>Save the permissions<span class="hidden">: ${title}</span></button>
    </form>
    ${askedButtonForm(visit, {
      ...{ action: '/settings/members/end', fields: { id }, about: title },
      ...(state === 'invited'
        ? { label: 'Take the invitation back', effect: 'It cannot be accepted from then on.' }
        : {
            label: 'End the membership',
            effect: `${title} and the programs of ${title} have no access from then on.`,
          }),
    })}
  </section>`;
};

const invitationPart = (visit: SignedIn, invitation: Invitation) => {
  const { id, organization, offer } = invitation;
  return html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${organization} invites you${placeOf(invitation)}</h2>
    <ul>
      ${giftsOf(invitation).map((gift) => html`<li>${gift}</li>`)}
    </ul>
    ${'grant' in offer && html`<p>Until ${timeText(visit.session, offer.grant.expiresAt)}.</p>`}
    <div class="actions">
      ${buttonForm(visit, {
        ...{
          action: '/settings/members/accept',
          fields: { id },
          label: 'Accept',
          about: organization,
          look: 'primary',
        },
      })}
      ${buttonForm(visit, {
        ...{ action: '/settings/members/decline', fields: { id }, label: 'Decline', about: organization },
      })}
    </div>
  </section>`;
};

/** The way to the account of an invitation that was accepted. */
const workPart = ({ formToken }: SignedIn, { accountId, organization }: Invitation) =>
  html`<form method="post" action="/sign-in/account">
    ${formTokenField(formToken)}<input type="hidden" name="account" value="${accountId}" />
    <button class="primary">Work in ${organization}</button>
  </form>`;

const joinedPart = (visit: SignedIn, accounts: readonly ReachableAccount[]) =>
  html`<section class="card" aria-labelledby="joined">
    <h2 id="joined">Accounts that you are a member of</h2>
    <ul class="list">
      ${accounts.map(
        ({ id, name }) =>
          html`<li>
            <span class="what"><b>${name}</b></span>
            ${askedButtonForm(visit, {
              ...{ action: '/settings/members/leave', fields: { id }, label: 'Leave', about: name },
              effect: `You have no access to ${name} from then on, and your keys and programs there end.`,
            })}
          </li>`,
      )}
    </ul>
  </section>`;

const permissionsField = z.preprocess(
  (value) => (value === undefined ? [] : [value].flat()),
  z.array(z.enum(memberPermissions)),
);

/** Members of the account: invited, changed and ended; and invitations of this person, to organizations and to podcasts. */
export function membersRoutes(deps: MembersPageDeps): readonly PageRoute[] {
  const { pool, send } = deps;
  /** Nothing that belongs to an address is given before a mail to it was answered. */
  const invitationsOf = async ({ session: { user } }: SignedIn) =>
    user.email_verified ? listInvitationsOf(pool, user.email) : [];

  /** @param answered the invitation that was answered just now: what is known of grants lags a moment behind */
  async function page(
    visit: SignedIn,
    said?: string,
    error?: string,
    next?: Html,
    answered?: string,
  ): Promise<PageAnswer> {
    const { session } = visit;
    const owner = { account_id: session.account.id, workspace_id: session.account.workspaceId };
    const joined = (await listAccountsOf(pool, session.user.id)).filter(({ isOwner }) => !isOwner);
    const members = isManager(session) ? await listMembers(pool, owner, { after: '', limit: maxShown }) : [];
    const invited = members.flatMap(({ id, state }) => (state === 'invited' ? [id] : []));
    const withheld = await findWithheldMails(pool, invited);
    const waiting = (await invitationsOf(visit)).filter(({ id }) => id !== answered);
    return {
      title: 'Members',
      tab: 'members',
      status: error === undefined ? 200 : 422,
      body: html`<h1>Members</h1>
        ${notice(said)}${notice(error, 'bad')}${next} ${waiting.map((invitation) => invitationPart(visit, invitation))}
        ${
          isManager(session)
            ? html`${members.map((member) => memberPart(visit, member, withheld.has(member.id)))}
                <section class="card" aria-labelledby="invite">
                  <h2 id="invite">Invite somebody to ${session.account.name}</h2>
                  <form method="post" action="/settings/members/invite">
                    ${formTokenField(visit.formToken)}
                    ${textField({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'off' })}
                    ${permissionChoice('invite', ['edit'])}
                    <button class="primary">Send the invitation</button>
                  </form>
                </section>`
            : html`<p class="note">
                The members of ${session.account.name} are managed by its owner and by members who manage members.
              </p>`
        }
        ${joined.length > 0 && joinedPart(visit, joined)}`,
    };
  }

  const answererOf = ({ session: { user, principal }, now }: SignedIn) => ({ userId: user.id, principal, now });

  /** The sentence of a problem that the person can do something about; undefined when all went well. */
  async function refusalOf(answered: Promise<void>): Promise<string | undefined> {
    try {
      await answered;
      return undefined;
    } catch (problem) {
      if (problem instanceof Problem && problem.code !== 'internal_error') return problem.message;
      throw problem;
    }
  }

  const actorOf = ({ session }: SignedIn) => ({ actor: { kind: 'principal', principal: session.principal } }) as const;

  async function invitationOf(visit: SignedIn, id: string | undefined): Promise<Invitation> {
    const found = (await invitationsOf(visit)).find((invitation) => invitation.id === id);
    if (!found) throw new Problem('not_found', 'There is no such invitation for your address.');
    return found;
  }

  return [
    showPage('/settings/members', 'session', (visit) => page(visit)),

    takeForm(
      '/settings/members/invite',
      'password',
      z.object({ email: emailField, permissions: permissionsField }),
      async (visit, { success, data }) => {
        if (!success) return page(visit, undefined, 'Write an e-mail address.');
        const { account } = visit.session;
        try {
          const changes = { owner_account_id: account.id, ...data };
          await send('membership.invite', account.workspaceId, undefined, changes, actorOf(visit));
        } catch (problem) {
          if (problem instanceof Problem && problem.status < 500) return page(visit, undefined, problem.message);
          throw problem;
        }
        return page(visit, `An invitation goes to ${data.email}.`);
      },
    ),

    takeForm(
      '/settings/members/revise',
      'password',
      z.object({ id: z.string(), permissions: permissionsField }),
      async (visit, { success, data }) => {
        if (!success) throw new Problem('validation_failed', 'Choose permissions of the list.');
        const { permissions } = data;
        await send('membership.revise', visit.session.account.workspaceId, data.id, { permissions }, actorOf(visit));
        return page(visit, 'The permissions are saved. They count from the next request.');
      },
    ),

    takeForm('/settings/members/end', 'password', z.object({ id: z.string() }), async (visit, { success, data }) => {
      if (!success) throw new Problem('validation_failed', 'Choose a member of the list.');
      await send('membership.end', visit.session.account.workspaceId, data.id, {}, actorOf(visit));
      return page(visit, 'It is ended, from the next request on.');
    }),

    takeForm('/settings/members/accept', 'password', z.object({ id: z.string() }), async (visit, { data }) => {
      const invitation = await invitationOf(visit, data?.id);
      const { organization, offer } = invitation;
      const answeredPage = (said: string, next?: Html) => page(visit, said, undefined, next, invitation.id);
      const refusal = await refusalOf(acceptInvitation(deps, invitation, answererOf(visit)));
      if (refusal !== undefined) return page(visit, undefined, refusal);
      if ('podcast' in offer)
        return answeredPage(`“${offer.podcast}” of ${organization} is among your podcasts from now on.`);
      if ('grant' in offer)
        return answeredPage(
          `You have the role “${offer.grant.role}” at ${organization}, in a few seconds in every API.`,
        );
      return answeredPage(`You are a member of ${organization}.`, workPart(visit, invitation));
    }),

    takeForm('/settings/members/leave', 'password', z.object({ id: z.string() }), async (visit, { data }) => {
      const { user, account } = visit.session;
      const joined = (await listAccountsOf(pool, user.id)).find(({ id, isOwner }) => id === data?.id && !isOwner);
      if (!joined) throw new Problem('not_found', 'You are not a member of such an account.');
      for (const id of await listMembershipIds(pool, { userId: user.id, accountId: joined.id }))
        await send('membership.end', joined.workspaceId, id, {});
      // What was made in that account has ended with the membership, this browser's access too.
      return joined.id === account.id ? { redirect: '/sign-in' } : page(visit, `You have left ${joined.name}.`);
    }),

    takeForm('/settings/members/decline', 'session', z.object({ id: z.string() }), async (visit, { data }) => {
      const invitation = await invitationOf(visit, data?.id);
      const refusal = await refusalOf(declineInvitation(deps, invitation, answererOf(visit)));
      if (refusal !== undefined) return page(visit, undefined, refusal);
      const said = `The invitation of ${invitation.organization} is declined.`;
      return page(visit, said, undefined, undefined, invitation.id);
    }),
  ];
}

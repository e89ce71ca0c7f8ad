import { useQuery } from '@tanstack/react-query';
import { gainsBy, ROLES } from '@tollkeeper/kernel/roles';
import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useAccount, useMay, useMayRead } from '../../app/account.tsx';
import { providersQuery } from '../../app/providers.tsx';
import { text } from '../../text/index.ts';
import { sso } from '../../text/sso.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { explain } from '../../ui/explain.ts';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, NotAllowed, PageHead, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { InvitationTable } from './invitation-table.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { SsoDialog } from './sso-dialog.tsx';

const words = text.members;
const READS = ['GET /api/v1/members', 'GET /api/v1/auth/me'] as const;

export function MembersPage() {
  const mayEdit = useMay('owner');
  const mayRead = useMayRead('owner');
  const [inviting, setInviting] = useState(false);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line}>
        {mayEdit && (
          <Button look="primary" onClick={() => setInviting(true)}>
            {words.invite}
          </Button>
        )}
      </PageHead>
      {mayRead ? (
        <People />
      ) : (
        <Card>
          <NotAllowed needed="owner" />
        </Card>
      )}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </div>
  );
}

/** Drawn together, so that none moves the other. */
function People() {
  const members = useRead('GET /api/v1/members', {}, { live: true });
  const invitations = useRead('GET /api/v1/invitations', {}, { live: true });
  const providers = useQuery(providersQuery);
  return (
    <Loaded query={members} with={[invitations, providers]} height={280}>
      {({ items, organisation }) => (
        <>
          <Card title={words.invitations}>
            <InvitationTable items={invitations.data?.items ?? []} />
          </Card>
          <Card>
            <MemberTable items={items} hasSso={(providers.data?.items.length ?? 0) > 0} />
          </Card>
          {organisation !== undefined && <OrganisationPeople {...organisation} />}
        </>
      )}
    </Loaded>
  );
}

function MemberTable({ items, hasSso }: { items: readonly Api.Member[]; hasSso: boolean }) {
  const { user } = useAccount();
  const mayEdit = useMay('owner');
  const [removing, setRemoving] = useState<Api.Member | null>(null);
  const [explaining, setExplaining] = useState<Api.Member | null>(null);
  const [raising, setRaising] = useState<{ member: Api.Member; role: Api.WorkspaceRole } | null>(null);
  const { giveRole, changeRole, isPending } = useRoleChange();

  const columns: Column<Api.Member>[] = [
    {
      key: 'name',
      head: words.column.name,
      cell: ({ user_id, name, email, login_name, service_account: machine }) => (
        <>
          <span className={ui['name']}>{name}</span> {user_id === user.id && <Tag>{words.you}</Tag>}
          <div className={ui['hint']}>
            {machine?.subject ?? (email === '' || email === login_name ? login_name : `${login_name}, ${email}`)}
          </div>
        </>
      ),
    },
    {
      key: 'role',
      head: words.column.role,
      cell: (member) =>
        mayEdit ? (
          <RoleSelect
            member={member}
            disabled={isPending}
            onChange={(role) => {
              // Arrow keys choose immediately, so a role that allows more needs confirmation.
              if (gainsBy(member.role, role)) setRaising({ member, role });
              else changeRole(member, role);
            }}
          />
        ) : (
          <span className={ui['word']}>{words.roles[member.role]}</span>
        ),
    },
    { key: 'joined', head: words.column.joined, wide: true, cell: ({ joined_at }) => <Ago at={joined_at} /> },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (member) => (
        <>
          {hasSso && (
            <Button look="quiet" aria-label={sso.report.buttonOf(member.name)} onClick={() => setExplaining(member)}>
              {sso.report.button}
            </Button>
          )}
          {mayEdit && (
            <Button look="quiet" aria-label={words.removeTitle(member.name)} onClick={() => setRemoving(member)}>
              {words.remove}
            </Button>
          )}
        </>
      ),
    },
  ];
  return (
    <>
      <Table label={words.title} columns={columns} rows={items} rowKey={({ user_id }) => user_id} />
      {explaining !== null && <SsoDialog member={explaining} onClose={() => setExplaining(null)} />}
      {raising !== null && (
        <Confirm
          title={words.raiseTitle(raising.member.name, text.common.roles[raising.role])}
          action={words.raise}
          onClose={() => setRaising(null)}
          onConfirm={() => giveRole(raising.member, raising.role)}
        >
          {words.raiseText}
        </Confirm>
      )}
      {removing !== null && <RemoveMember member={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

/** People who are no members and have access nevertheless. */
function OrganisationPeople({ name: of, members }: Api.OrganisationAccess) {
  const columns: Column<Api.OrganisationMember>[] = [
    {
      key: 'name',
      head: words.column.name,
      cell: ({ name, email, login_name }) => (
        <>
          <span className={ui['name']}>{name}</span>
          <div className={ui['hint']}>{email || login_name}</div>
        </>
      ),
    },
    {
      key: 'role',
      head: words.column.role,
      cell: ({ role }) => <span className={ui['word']}>{words.roles[role]}</span>,
    },
  ];
  return (
    <Card title={words.organisation(of)}>
      <Table label={words.organisation(of)} columns={columns} rows={members} rowKey={({ user_id }) => user_id} />
    </Card>
  );
}

function useRoleChange() {
  const setRole = useChange('PATCH /api/v1/members/{user_id}', READS);

  async function giveRole({ user_id, name, role: before }: Api.Member, role: Api.WorkspaceRole): Promise<void> {
    // mutateAsync, so that the answer is handled even after the page was left.
    const member = await setRole.mutateAsync({ path: { user_id }, body: { role } });
    toast(words.changed(name, text.common.roles[role]), { undo: () => changeRole(member, before) });
  }

  function changeRole(member: Api.Member, role: Api.WorkspaceRole): void {
    giveRole(member, role).catch((error: unknown) => toast(explain(error).message, { tone: 'bad' }));
  }

  return { giveRole, changeRole, isPending: setRole.isPending };
}

interface RoleSelectProps {
  member: Api.Member;
  disabled: boolean;
  onChange: (role: Api.WorkspaceRole) => void;
}

function RoleSelect({ member, disabled, onChange }: RoleSelectProps) {
  return (
    <select
      className={ui['select']}
      aria-label={words.roleOf(member.name)}
      value={member.role}
      disabled={disabled}
      onChange={({ target }) => onChange(ROLES.find((each) => each === target.value) ?? member.role)}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}

function RemoveMember({ member, onClose }: { member: Api.Member; onClose: () => void }) {
  const remove = useChange('DELETE /api/v1/members/{user_id}', READS);
  return (
    <Confirm
      title={words.removeTitle(member.name)}
      action={words.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { user_id: member.user_id } });
        toast(words.removed(member.name));
      }}
    >
      {words.removeText}
    </Confirm>
  );
}

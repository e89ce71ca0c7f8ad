import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Note } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.members;

/** Open invitations. */
export function InvitationTable({ items }: { items: readonly Api.Invitation[] }) {
  const mayEdit = useMay('owner');
  const [revoking, setRevoking] = useState<Api.Invitation | null>(null);
  const revoke = useChange('DELETE /api/v1/invitations/{invitation}', ['GET /api/v1/invitations']);
  const columns: Column<Api.Invitation>[] = [
    {
      key: 'email',
      head: words.form.email,
      cell: ({ email }) => <span className={ui['name']}>{email}</span>,
    },
    {
      key: 'role',
      head: words.column.role,
      cell: ({ role }) => <span className={ui['word']}>{words.roles[role]}</span>,
    },
    { key: 'made', head: words.column.made, wide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (invitation) =>
        mayEdit && (
          <Button look="quiet" aria-label={words.revokeTitle(invitation.email)} onClick={() => setRevoking(invitation)}>
            {words.revoke}
          </Button>
        ),
    },
  ];
  return (
    <>
      {items.length === 0 ? (
        <Note title={words.noInvitations} />
      ) : (
        <Table label={words.invitations} columns={columns} rows={items} rowKey={({ id }) => id} />
      )}
      {revoking !== null && (
        <Confirm
          title={words.revokeTitle(revoking.email)}
          action={words.revoke}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await revoke.mutateAsync({ path: { invitation: revoking.id } });
            toast(words.revoked(revoking.email));
          }}
        >
          {words.revokeText}
        </Confirm>
      )}
    </>
  );
}

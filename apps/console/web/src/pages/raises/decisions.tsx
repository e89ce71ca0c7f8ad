import { useState } from 'react';
import { type Api, TollkeeperError, useChange } from '../../api/api.ts';
import { money } from '../../format/money.ts';
import { raises as words } from '../../text/raises.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { RAISE_READS, useTerms } from './raise-form.tsx';
import { useUntil } from './raised.tsx';

/** What an owner decides through the link of a request. */
interface Link {
  token: string | undefined;
  /** The link is not good: the owner decides without it. */
  onBad: () => void;
}

interface DecisionProps {
  raise: Api.Raise;
  link?: Link | undefined;
}

/** Approves or declines a request. */
export function Decisions({ raise, link }: DecisionProps) {
  const [open, setOpen] = useState<'approve' | 'decline' | null>(null);
  const close = () => setOpen(null);
  const name = words.nameOf(raise);
  return (
    <>
      <Button look="primary" aria-label={`${words.approve}: ${name}`} onClick={() => setOpen('approve')}>
        {words.approve}
      </Button>{' '}
      <Button aria-label={`${words.decline}: ${name}`} onClick={() => setOpen('decline')}>
        {words.decline}
      </Button>
      {open === 'approve' && <ApproveDialog {...{ raise, link }} onClose={close} />}
      {open === 'decline' && <DeclineDialog {...{ raise, link }} onClose={close} />}
    </>
  );
}

type DialogProps = DecisionProps & { onClose: () => void };

function ApproveDialog({ raise, link, onClose }: DialogProps) {
  const inWords = useUntil();
  const terms = useTerms(raise);
  const approve = useChange('POST /api/v1/raises/{raise_id}:approve', RAISE_READS);
  const name = words.nameOf(raise);

  async function send(): Promise<void> {
    const checked = terms.check();
    if (checked === undefined) return;
    const { extra_micros, until } = await withLink(link, (token) =>
      approve.mutateAsync({ path: { raise_id: raise.id }, body: { ...checked, ...token } }),
    );
    toast(words.granted(name, money(extra_micros), inWords(until)));
    onClose();
  }

  return (
    <FormDialog title={words.approveTitle(name)} action={words.approve} send={send} onClose={onClose}>
      <p className={ui['hint']}>{words.form.hint}</p>
      {terms.fields}
    </FormDialog>
  );
}

function DeclineDialog({ raise, link, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const decline = useChange('POST /api/v1/raises/{raise_id}:decline', RAISE_READS);
  const name = words.nameOf(raise);

  async function send(): Promise<void> {
    await withLink(link, (token) => decline.mutateAsync({ path: { raise_id: raise.id }, body: { reason, ...token } }));
    toast(words.declined(name));
    onClose();
  }

  return (
    <FormDialog title={words.declineTitle(name)} action={words.decline} send={send} onClose={onClose}>
      <TextField
        label={words.form.reason}
        hint={words.declineHint}
        required
        maxLength={200}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  );
}

/** Decides with the token of the link, if there is one, and reports a bad one. */
async function withLink<T>(link: Link | undefined, decide: (token: { token?: string }) => Promise<T>): Promise<T> {
  if (link?.token === undefined) return decide({});
  try {
    return await decide({ token: link.token });
  } catch (error) {
    const isOfLink = error instanceof TollkeeperError && error.details?.some(({ path }) => path === 'token');
    if (isOfLink) link.onBad();
    throw error;
  }
}

/** Ends a raise before its time. */
export function EndRaise({ raise }: { raise: Api.Raise }) {
  const [isOpen, setIsOpen] = useState(false);
  const end = useChange('POST /api/v1/raises/{raise_id}:end', RAISE_READS);
  const name = words.nameOf(raise);
  return (
    <>
      <Button look="quiet" aria-label={words.endTitle(name)} onClick={() => setIsOpen(true)}>
        {words.end}
      </Button>
      {isOpen && (
        <Confirm
          title={words.endTitle(name)}
          action={words.end}
          onClose={() => setIsOpen(false)}
          onConfirm={async () => {
            await end.mutateAsync({ path: { raise_id: raise.id } });
            toast(words.ended(name));
          }}
        >
          {words.endText}
        </Confirm>
      )}
    </>
  );
}

/** Who asked: a person, or the holder of a workspace key. */
export function askerOf({ asked_by: { type, id, name } }: Api.Raise): string {
  return { user: () => name, key: () => words.key(name === '' ? id : name) }[type]();
}

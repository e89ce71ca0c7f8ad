import { type Api, useChange, useRead } from '../../api/api.ts';
import { channels as words } from '../../text/channels.ts';
import { Button } from '../../ui/button.tsx';
import { Tag } from '../../ui/parts.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { destinationOf } from './channel-types.ts';

type State = Api.AlertChannelConfirmation['state'];

/** How each state looks, and whether another mail can change it. */
const LOOKS: Record<State, { tone: 'ok' | 'warn' | 'calm'; canBeAsked: boolean }> = {
  queued: { tone: 'calm', canBeAsked: false },
  asked: { tone: 'warn', canBeAsked: true },
  expired: { tone: 'warn', canBeAsked: true },
  unsent: { tone: 'warn', canBeAsked: true },
  confirmed: { tone: 'ok', canBeAsked: false },
  stopped: { tone: 'calm', canBeAsked: false },
};

interface ConfirmationsProps {
  channel: Api.AlertChannel;
  /** Offers to send the link again. */
  mayAsk?: boolean;
}

/** Which readers of a channel have confirmed their addresses; nothing for types that need no confirmation. */
export function Confirmations({ channel, mayAsk = false }: ConfirmationsProps) {
  const ask = useChange('POST /api/v1/alerts/channels/{channel_id}/confirmations', ['GET /api/v1/alerts/channels']);
  // A dialog has the channel as it was when it opened.
  const channels = useRead('GET /api/v1/alerts/channels', {}, { live: true });
  const latest = channels.data?.items.find(({ id }) => id === channel.id) ?? channel;
  const { confirmations } = destinationOf(latest);
  if (confirmations === undefined) return null;
  return (
    <ul aria-label={words.confirmations}>
      {confirmations.map(({ address, state }) => (
        <li key={address}>
          <span className={ui['id']}>{address}</span> <Tag tone={LOOKS[state].tone}>{words.states[state]}</Tag>
          {mayAsk && LOOKS[state].canBeAsked && (
            <Button
              look="quiet"
              aria-label={`${words.ask}: ${address}`}
              onClick={() =>
                void ask
                  .mutateAsync({ path: { channel_id: channel.id }, body: { address } })
                  .then(() => toast(words.asked(address)), toastFailure)
              }
            >
              {words.ask}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

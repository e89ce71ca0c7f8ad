import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CHANNEL_TYPES, type ChannelType, destinationOf, toSecret, TYPES } from './channel-types.ts';

const words = text.channels.form;
const READS = ['GET /api/v1/alerts/channels'] as const;

/** Creates a channel, or edits one. The signing secret is write-only. */
export function ChannelDialog({ channel, onClose }: { channel: Api.AlertChannel | null; onClose: () => void }) {
  const [type, setType] = useState<ChannelType>(channel?.channel_type ?? 'webhook');
  const [name, setName] = useState(channel?.name ?? '');
  const { url: before, isSigned: hasSecret = false } = channel === null ? { url: '' } : destinationOf(channel);
  const [url, setUrl] = useState(before);
  const [secret, setSecret] = useState('');
  const create = useChange('POST /api/v1/alerts/channels', READS);
  const edit = useChange('PATCH /api/v1/alerts/channels/{channel_id}', READS);

  async function send(): Promise<void> {
    const { toInput, toAddress } = CHANNEL_TYPES[type];
    if (channel === null) {
      await create.mutateAsync({ body: toInput({ name, url, secret }) });
    } else {
      // An unchanged URL is not sent, because the API returns it without its secret parts.
      const config = { ...(url !== before && toAddress(url)), ...toSecret(secret) };
      await edit.mutateAsync({ path: { channel_id: channel.id }, body: { name, config } });
    }
    toast(text.channels.saved(name));
    onClose();
  }

  return (
    <FormDialog
      title={channel === null ? text.channels.create : text.channels.edit(channel.name ?? text.channels.unnamed)}
      send={send}
      onClose={onClose}
    >
      <ChoiceField
        label={words.type}
        hint={words.typeHints[type]}
        disabled={channel !== null}
        value={type}
        options={TYPES.map((each) => [each, text.channels.types[each]] as const)}
        onChange={setType}
      />
      <TextField
        label={words.name}
        required
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={words.url}
        hint={words.urlHint}
        required
        type="url"
        maxLength={2048}
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      {CHANNEL_TYPES[type].isSigned && (
        <TextField
          label={words.secret}
          hint={hasSecret ? words.secretKept : words.secretHint}
          type="password"
          autoComplete="off"
          minLength={16}
          maxLength={512}
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
        />
      )}
    </FormDialog>
  );
}

import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';

const words = text.channels.form;
const READS = ['GET /api/v1/alerts/channels'] as const;

/** Makes a channel, or edits one. The signing secret goes in and never comes out. */
export function ChannelDialog({ channel, onClose }: { channel: Api.AlertChannel | null; onClose: () => void }) {
  const [type, setType] = useState<Api.AlertChannel['channel_type']>(channel?.channel_type ?? 'webhook');
  const [name, setName] = useState(channel?.name ?? '');
  const before = channel === null ? '' : 'url' in channel.config ? channel.config.url : channel.config.webhook_url;
  const [url, setUrl] = useState(before);
  const [secret, setSecret] = useState('');
  const create = useChange('POST /api/v1/alerts/channels', READS);
  const edit = useChange('PATCH /api/v1/alerts/channels/{channel_id}', READS);
  const hasSecret = channel !== null && 'signing_secret_set' in channel.config && channel.config.signing_secret_set;

  async function send(): Promise<void> {
    const signing = secret === '' ? {} : { signing_secret: secret };
    if (channel !== null) {
      // An address that was not touched is not sent: the API shows it without what may be secret in it.
      const address = url === before ? {} : type === 'chat' ? { webhook_url: url } : { url };
      await edit.mutateAsync({ path: { channel_id: channel.id }, body: { name, config: { ...address, ...signing } } });
    } else if (type === 'chat') {
      await create.mutateAsync({ body: { channel_type: 'chat', name, config: { webhook_url: url } } });
    } else {
      await create.mutateAsync({ body: { channel_type: 'webhook', name, config: { url, ...signing } } });
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
      <SelectField
        label={words.type}
        hint={words.typeHints[type]}
        disabled={channel !== null}
        value={type}
        onChange={({ target }) => setType(target.value === 'chat' ? 'chat' : 'webhook')}
      >
        {(['webhook', 'chat'] as const).map((each) => (
          <option key={each} value={each}>
            {text.channels.types[each]}
          </option>
        ))}
      </SelectField>
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
      {type === 'webhook' && (
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

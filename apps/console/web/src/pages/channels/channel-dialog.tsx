import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { channels as texts } from '../../text/channels.ts';
import { ChoiceField, TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CHANNEL_TYPES, type ChannelType, destinationOf, toSecret, TYPES } from './channel-types.ts';
import { Confirmations } from './confirmations.tsx';

const words = texts.form;
const READS = ['GET /api/v1/alerts/channels'] as const;
const NO_DESTINATION = { url: CHANNEL_TYPES.webhook.usualUrl, hasSecret: false };

/** Creates a channel, or edits one. Secrets are write-only. */
export function ChannelDialog({ channel, onClose }: { channel: Api.AlertChannel | null; onClose: () => void }) {
  const [type, setType] = useState<ChannelType>(channel?.channel_type ?? 'webhook');
  const [name, setName] = useState(channel?.name ?? '');
  const { url: before, hasSecret } = channel === null ? NO_DESTINATION : destinationOf(channel);
  const [url, setUrl] = useState(before);
  const [secret, setSecret] = useState('');
  const create = useChange('POST /api/v1/alerts/channels', READS);
  const edit = useChange('PATCH /api/v1/alerts/channels/{channel_id}', READS);

  const form = CHANNEL_TYPES[type];
  const { secret: secretField } = form;

  function choose(next: ChannelType): void {
    setType(next);
    // What people typed stays.
    if (url === form.usualUrl) setUrl(CHANNEL_TYPES[next].usualUrl);
    setSecret('');
  }

  async function send(): Promise<void> {
    if (channel === null) {
      await create.mutateAsync({ body: form.toInput({ name, url, secret }) });
    } else {
      // An unchanged URL is not sent, because the API returns it without its secret parts.
      const config = { ...(url !== before && form.toAddress(url)), ...toSecret(form, secret) };
      await edit.mutateAsync({ path: { channel_id: channel.id }, body: { name, config } });
    }
    toast(texts.saved(name));
    onClose();
  }

  return (
    <FormDialog
      title={channel === null ? texts.create : texts.edit(channel.name ?? texts.unnamed)}
      send={send}
      onClose={onClose}
    >
      <ChoiceField
        label={words.type}
        hint={words.typeHints[type]}
        disabled={channel !== null}
        value={type}
        options={TYPES.map((each) => [each, texts.types[each]] as const)}
        onChange={choose}
      />
      <TextField
        label={words.name}
        required
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <DestinationField isList={form.isList === true} value={url} onChange={setUrl} />
      {channel !== null && <Confirmations channel={channel} mayAsk />}
      {secretField !== undefined && (
        <TextField
          label={words.secrets[secretField.name].label}
          hint={hasSecret ? words.secrets[secretField.name].kept : words.secrets[secretField.name].hint}
          type="password"
          autoComplete="off"
          required={secretField.isRequired && !hasSecret}
          minLength={secretField.minLength}
          maxLength={secretField.maxLength}
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
        />
      )}
    </FormDialog>
  );
}

interface DestinationFieldProps {
  /** Whether it is a list of e-mail addresses, and not a URL. */
  isList: boolean;
  value: string;
  onChange: (value: string) => void;
}

function DestinationField({ isList, value, onChange }: DestinationFieldProps) {
  if (isList) {
    return (
      <TextAreaField
        label={words.addresses}
        hint={words.addressesHint}
        required
        rows={3}
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  return (
    <TextField
      label={words.url}
      hint={words.urlHint}
      required
      type="url"
      maxLength={2048}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

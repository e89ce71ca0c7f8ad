import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { prices } from '../../text/prices.ts';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useNow } from '../../ui/now.ts';
import { toast } from '../../ui/toasts.tsx';
import { badFields, bodyOf, formOf, PRICE_FIELDS, type PriceField, type PriceForm } from './price-form.ts';

const words = prices.form;
const WHATS = [
  ['prices', words.whats.prices],
  ['table', words.whats.table],
] as const;
const FIELDS: Record<PriceField, { label: string; hint: string }> = {
  input_micros_per_million: { label: words.input, hint: words.perMillion },
  output_micros_per_million: { label: words.output, hint: words.perMillion },
  cached_input_micros_per_million: { label: words.cached, hint: words.likeInput },
  cache_write_micros_per_million: { label: words.write, hint: words.likeInput },
  cache_write_1h_micros_per_million: { label: words.writeHour, hint: words.likeWrite },
  reasoning_micros_per_million: { label: words.reasoning, hint: words.likeOutput },
};

/** Sets the price of a model: a new one, or one like `of`. */
export function PriceDialog({ of, onClose }: { of: Api.Price | null; onClose: () => void }) {
  const today = new Date(useNow()).toISOString().slice(0, 'yyyy-mm-dd'.length);
  const [form, setForm] = useState(() => formOf(of, today));
  const [tried, setTried] = useState(false);
  const set = useChange('PUT /api/v1/prices', ['GET /api/v1/prices']);
  const change = (part: Partial<PriceForm>) => setForm((before) => ({ ...before, ...part }));
  const titles = { override: prices.changeOf, table: prices.setOf };
  const isOwn = of?.source === 'override';

  async function send(): Promise<void> {
    setTried(true);
    const body = bodyOf(form, of);
    if (body === null) return;
    await set.mutateAsync({ body });
    toast(body.ends === true ? prices.ended(body.model) : prices.saved(body.model));
    onClose();
  }

  return (
    <FormDialog title={of === null ? prices.set : titles[of.source](of.model)} send={send} onClose={onClose} side>
      <TextField
        label={words.model}
        hint={words.modelHint}
        required
        maxLength={128}
        readOnly={isOwn}
        value={form.model}
        onChange={({ target }) => change({ model: target.value })}
      />
      <TextField
        label={words.provider}
        hint={words.providerHint}
        maxLength={128}
        readOnly={isOwn}
        value={form.provider}
        onChange={({ target }) => change({ provider: target.value })}
      />
      <TextField
        label={words.from}
        hint={words.fromHint}
        type="date"
        required
        value={form.day}
        onChange={({ target }) => change({ day: target.value })}
      />
      {isOwn && (
        <ChoiceField label={words.what} value={form.what} options={WHATS} onChange={(what) => change({ what })} />
      )}
      {{ prices: <Amounts form={form} tried={tried} change={change} />, table: null }[form.what]}
    </FormDialog>
  );
}

interface AmountsProps {
  form: PriceForm;
  /** Whether the form was sent, so that its problems are shown. */
  tried: boolean;
  change: (part: Partial<PriceForm>) => void;
}

function Amounts({ form, tried, change }: AmountsProps) {
  const { amounts } = form;
  const bad = badFields(form);
  const isEmpty = PRICE_FIELDS.every((field) => amounts[field].trim() === '');
  function problemOf(field: PriceField): string | undefined {
    if (!tried) return undefined;
    if (bad.includes(field)) return words.bad;
    return isEmpty && field === PRICE_FIELDS[0] ? words.noPrice : undefined;
  }
  return PRICE_FIELDS.map((field) => (
    <TextField
      key={field}
      {...FIELDS[field]}
      inputMode="decimal"
      value={amounts[field]}
      problem={problemOf(field)}
      onChange={({ target }) => change({ amounts: { ...amounts, [field]: target.value } })}
    />
  ));
}

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Api, usePages, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { exactMoney } from '../../format/money.ts';
import { exactCount } from '../../format/numbers.ts';
import { date } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { prices as words } from '../../text/prices.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { TextField } from '../../ui/field.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Card, Note, PageHead, Segments, Skeleton } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { PriceDialog } from './price-dialog.tsx';
import { RepriceDialog } from './reprice-dialog.tsx';
import { PRICE_SOURCES, type PricesSearch } from './prices-search.ts';

const PAGE = 50;

/** The dialog that is open, and the price that it is about. */
type Open = { of: Api.Price | null } | 'reprice' | null;

/** The prices of the workspace and of the release. Owners set those of the workspace. */
export function PricesPage() {
  const mayEdit = useMay('owner');
  const [open, setOpen] = useState<Open>(null);
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayEdit && (
          <>
            <Button onClick={() => setOpen('reprice')}>{words.reprice.open}</Button>
            <Button look="primary" onClick={() => setOpen({ of: null })}>
              {words.set}
            </Button>
          </>
        )}
      </PageHead>
      <Card>
        <Prices onOpen={mayEdit ? (of) => setOpen({ of }) : null} />
      </Card>
      {open === 'reprice' && <RepriceDialog onClose={() => setOpen(null)} />}
      {open !== null && open !== 'reprice' && <PriceDialog of={open.of} onClose={() => setOpen(null)} />}
    </>
  );
}

function Prices({ onOpen }: { onOpen: ((price: Api.Price) => void) | null }) {
  const { source = 'override', find = '' } = useSearch({ from: '/account/w/$slug/prices' });
  const navigate = useNavigate();
  const { slug } = useWorkspace();
  const list = usePages('GET /api/v1/prices', { query: { source, search: find, limit: PAGE } });
  const spend = useRead('GET /api/v1/dashboard/spend', { query: { range: 'today' } });
  const unpriced = spend.data?.unpriced.calls ?? 0;
  const none = source === 'override' && find !== '' ? words.none.found : words.none[source];
  const show = (part: { [Part in keyof PricesSearch]: PricesSearch[Part] | undefined }) =>
    void navigate({
      from: '/w/$slug/prices',
      to: '.',
      search: (before) => ({ ...before, ...part }),
      replace: true,
      resetScroll: false,
    });
  // The prices are shown even without the dashboard.
  if (spend.isPending) return <Loading />;
  return (
    <div className={ui['stack']}>
      {unpriced > 0 && (
        <p>
          {words.unpriced(unpriced)}{' '}
          <Link to="/w/$slug/spend" params={{ slug }} search={{ range: 'today' }}>
            {words.theirModels}
          </Link>
        </p>
      )}
      <p>
        {words.bills}{' '}
        <Link to="/w/$slug/bills" params={{ slug }}>
          {words.compare}
        </Link>
      </p>
      <div className={ui['filters']}>
        <Segments
          label={words.source}
          value={source}
          options={PRICE_SOURCES.map((each) => [each, words.sources[each]] as const)}
          onChange={(next) => show({ source: next })}
        />
        <TextField
          label={words.find}
          placeholder={words.findHint}
          type="search"
          maxLength={128}
          value={find}
          onChange={({ target }) => show({ find: target.value || undefined })}
        />
      </div>
      <PagedTable
        list={list}
        height={480}
        none={<Note title={none.title}>{none.text}</Note>}
        label={words.title}
        columns={columnsFor(onOpen)}
        rowKey={keyOf}
      />
    </div>
  );
}

function Loading() {
  return (
    <div role="status" aria-label={text.common.list.loading}>
      <Skeleton height={560} />
    </div>
  );
}

function columnsFor(onOpen: ((price: Api.Price) => void) | null): Column<Api.Price>[] {
  return [
    { key: 'model', head: words.column.model, cell: (price) => <Model price={price} /> },
    {
      key: 'input',
      head: words.column.input,
      align: 'right',
      cell: ({ input_micros_per_million: micros }) => <Amount micros={micros} />,
    },
    {
      key: 'cached',
      head: words.column.cached,
      align: 'right',
      wide: true,
      cell: ({ cached_input_micros_per_million: micros }) => <Amount micros={micros} />,
    },
    {
      key: 'write',
      head: words.column.write,
      align: 'right',
      wide: true,
      cell: ({ cache_write_micros_per_million: micros }) => <Amount micros={micros} />,
    },
    {
      key: 'output',
      head: words.column.output,
      align: 'right',
      cell: ({ output_micros_per_million: micros }) => <Amount micros={micros} />,
    },
    { key: 'valid', head: words.column.valid, wide: true, cell: validity },
    ...(onOpen === null
      ? []
      : [
          {
            key: 'action',
            head: <span className="heard">{words.column.action}</span>,
            align: 'right' as const,
            cell: (price: Api.Price) => <Action price={price} onOpen={onOpen} />,
          },
        ]),
  ];
}

function Action({ price, onOpen }: { price: Api.Price; onOpen: (price: Api.Price) => void }) {
  // A price of the workspace has no tiers and thresholds, so it cannot be like one of the release that has.
  if (price.tier !== 'default' || price.above_tokens !== null) return null;
  const { name, title } = {
    override: { name: words.change, title: words.changeOf },
    table: { name: words.set, title: words.setOf },
  }[price.source];
  return (
    <Button look="quiet" aria-label={title(price.model)} onClick={() => onOpen(price)}>
      {name}
    </Button>
  );
}

function Model({ price: { model, provider, tier, above_tokens: above, ends } }: { price: Api.Price }) {
  const of = [
    provider ?? words.anyProvider,
    words.tiers[tier],
    above === null ? null : words.above(exactCount(above)),
    ends ? words.ends : null,
  ].filter((part) => part !== null);
  return (
    <>
      <span className={ui['name']}>{model}</span>
      <div className={ui['hint']}>{of.join(' · ')}</div>
    </>
  );
}

function Amount({ micros }: { micros: number | null }) {
  return micros === null ? text.common.none : exactMoney(micros);
}

/** The UTC days, because prices of the release change at those. */
function validity({ valid_from: from, valid_to: to }: Api.Price): string {
  const day = (at: string) => date(at, 'UTC');
  if (from === null) return to === null ? words.always : words.to(day(to));
  if (to === null) return words.from(day(from));
  return from === to ? words.corrected : words.between(day(from), day(to));
}

function keyOf({ id, tier, above_tokens, valid_from, valid_to }: Api.Price): string {
  return JSON.stringify([id, tier, above_tokens, valid_from, valid_to]);
}

import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Api, TollkeeperError, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { raises } from '../../text/raises.ts';
import { Facts } from '../../ui/facts.tsx';
import { Ago, At, Money } from '../../ui/figures.tsx';
import { Card, Loaded, Note, PageHead } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { askerOf, Decisions, EndRaise } from './decisions.tsx';

const words = raises.page;
const FROM = { from: '/account/w/$slug/raises/$raiseId' } as const;

/** One raise, which the link of a request leads to. Nothing changes before an owner decides. */
export function RaisePage() {
  const { raiseId: raise_id } = useParams(FROM);
  const { slug } = useWorkspace();
  const raise = useRead('GET /api/v1/raises/{raise_id}', { path: { raise_id } }, { live: true });
  const isMissing = raise.error instanceof TollkeeperError && raise.error.status === 404;
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title}>
        <Link to="/w/$slug/raises" params={{ slug }}>
          {words.toList}
        </Link>
      </PageHead>
      <Card>
        {isMissing ? (
          <Note title={words.missing.title}>{words.missing.text}</Note>
        ) : (
          <Loaded query={raise} height={320}>
            {(found) => <Found raise={found} />}
          </Loaded>
        )}
      </Card>
    </div>
  );
}

function Found({ raise }: { raise: Api.Raise }) {
  const name = raises.nameOf(raise);
  return (
    <div className={ui['stack']}>
      <h2>{words.asks(askerOf(raise), money(raise.asked_micros), name)}</h2>
      {raise.state !== 'requested' && <p role="status">{words.decided[raise.state](raise.decided_by?.name ?? '')}</p>}
      <Facts
        facts={[
          [words.state, raises.states[raise.state]],
          [words.amount, <Money key="amount" micros={raise.extra_micros} />],
          [words.until, <At key="until" at={raise.until} />],
          [words.reason, raise.reason],
          [words.by, askerOf(raise)],
          [words.when, <Ago key="when" at={raise.created_at} />],
          [words.declineReason, raise.decline_reason],
        ]}
      />
      <Actions raise={raise} />
    </div>
  );
}

function Actions({ raise }: { raise: Api.Raise }) {
  const { token } = useSearch(FROM);
  const [isBad, setIsBad] = useState(false);
  const mayDecide = useMay('owner');
  if (!mayDecide) return <p className={ui['hint']}>{words.onlyOwners}</p>;
  if (raise.state === 'active') return <EndRaise raise={raise} />;
  if (raise.state !== 'requested') return null;
  return (
    <div>
      {isBad && <p className={ui['alarm']}>{words.badLink}</p>}
      <Decisions raise={raise} link={{ token: isBad ? undefined : token, onBad: () => setIsBad(true) }} />
    </div>
  );
}

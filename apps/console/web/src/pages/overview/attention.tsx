import { Link } from '@tanstack/react-router';
import { type Answer, type Api, useRead } from '../../api/api.ts';
import { useMayRead, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { AlertStatus, Severity } from '../../ui/severity.tsx';
import ui from '../../ui/ui.module.css';
import { useAlertLine } from '../../ui/use-alert-line.ts';
import { BudgetsAtRisk } from './budgets-at-risk.tsx';
import css from './overview.module.css';

const words = text.overview;
/** As many as fit beside the chart: budgets are shorter than alerts. */
const BUDGETS = 5;
const FIRING = 4;
/** The places that budgets leave to firing alerts. */
const LEFT = 2;
const LAST = 2;

/** The budgets at risk, then the firing alerts, for those who may read them; without any, the latest ones. */
export function Attention({ overview }: { overview: Answer<Api.Overview> }) {
  const { slug } = useWorkspace();
  const enabled = useMayRead('admin');
  const firing = useRead('GET /api/v1/alerts', { query: { status: 'firing', limit: FIRING } }, { live: true, enabled });
  const last = useRead('GET /api/v1/alerts', { query: { limit: LAST } }, { live: true, enabled });
  const fires = firing.data?.items ?? [];
  const left = Math.min(LEFT, fires.length);
  const alerts = fires.length === 0 ? (last.data?.items ?? []) : fires;
  return (
    <Card
      title={words.attention}
      link={
        <span className={ui['row']}>
          <Link to="/w/$slug/budgets" params={{ slug }}>
            {words.allBudgets}
          </Link>
          {enabled && (
            <Link to="/w/$slug/alerts" params={{ slug }}>
              {words.allAlerts}
            </Link>
          )}
        </span>
      }
    >
      <Loaded query={overview} with={enabled ? [firing, last] : []} height={278}>
        {({ budgets }) => {
          const atRisk = (budgets ?? []).filter(({ at_risk }) => at_risk).slice(0, BUDGETS - left);
          // An older dashboard answers none.
          const isKnown = (budgets ?? null) !== null;
          const isQuiet = isKnown && fires.length === 0 && atRisk.length === 0;
          return (
            <>
              {!isKnown && <Note title={words.unknown.title}>{words.unknown.text}</Note>}
              {isQuiet && <Quiet readsAlerts={enabled} />}
              <div className={css['attention']}>
                <BudgetsAtRisk atRisk={atRisk} />
                <AlertList alerts={alerts.slice(0, Math.max(left, FIRING - atRisk.length))} />
              </div>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Quiet({ readsAlerts }: { readsAlerts: boolean }) {
  const { title, text: why } = readsAlerts ? words.quiet : words.noRisk;
  return <Note title={title}>{why}</Note>;
}

function AlertList({ alerts }: { alerts: Api.Alert[] }) {
  const { slug } = useWorkspace();
  const alertLine = useAlertLine();
  return (
    <ul>
      {alerts.map((alert) => (
        <li key={alert.id}>
          {alert.status === 'firing' ? <Severity severity={alert.severity} /> : <AlertStatus status={alert.status} />}
          <Link to="/w/$slug/alerts" params={{ slug }} search={{ alert: alert.id }} className={ui['name']}>
            {alert.rule_name}
          </Link>
          <span className={css['sub']}>
            <Ago at={alert.triggered_at} />
          </span>
          <p>{alertLine(alert)}</p>
        </li>
      ))}
    </ul>
  );
}

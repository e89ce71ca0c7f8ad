import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { AlertStatus, Severity } from '../../ui/severity.tsx';
import ui from '../../ui/ui.module.css';
import { useAlertLine } from '../../ui/use-alert-line.ts';
import css from './overview.module.css';

const words = text.overview;
/** As many as fit beside the chart. */
const FIRING = 4;
const LAST = 2;

/** The firing alerts; without any, the latest ones. */
export function Attention() {
  const { slug } = useWorkspace();
  const firing = useRead('GET /api/v1/alerts', { query: { status: 'firing', limit: FIRING } }, { live: true });
  const last = useRead('GET /api/v1/alerts', { query: { limit: LAST } }, { live: true });
  return (
    <Card
      title={words.attention}
      link={
        <Link to="/w/$slug/alerts" params={{ slug }}>
          {words.allAlerts}
        </Link>
      }
    >
      <Loaded query={firing} with={[last]} height={278}>
        {({ items }) => (
          <>
            {items.length === 0 && <Note title={words.quiet.title}>{words.quiet.text}</Note>}
            <AlertList alerts={items.length === 0 ? (last.data?.items ?? []) : items} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function AlertList({ alerts }: { alerts: Api.Alert[] }) {
  const { slug } = useWorkspace();
  const alertLine = useAlertLine();
  return (
    <ul className={css['attention']}>
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

import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { alertLine } from '../../text/alerts.ts';
import { text } from '../../text/index.ts';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { Severity } from '../../ui/severity.tsx';
import ui from '../../ui/ui.module.css';
import css from './overview.module.css';

const words = text.overview;

/** The alerts that fire, newest first. */
export function Attention() {
  const { slug } = useWorkspace();
  const alerts = useRead('GET /api/v1/alerts', { query: { status: 'firing', limit: 5 } }, { live: true });
  return (
    <Card
      title={words.attention}
      link={
        <Link to="/w/$slug/alerts" params={{ slug }}>
          {words.allAlerts}
        </Link>
      }
    >
      <Loaded query={alerts} height={282}>
        {({ items }) =>
          items.length === 0 ? (
            <Note title={words.quiet.title}>{words.quiet.text}</Note>
          ) : (
            <ul className={css['attention']}>
              {items.map((alert) => (
                <li key={alert.id}>
                  <Severity severity={alert.severity} />
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
          )
        }
      </Loaded>
    </Card>
  );
}

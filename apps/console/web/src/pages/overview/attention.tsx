import { Link } from '@tanstack/react-router';
import { useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { alertLine } from '../../text/alerts.ts';
import { text } from '../../text/index.ts';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, Note, Tag, type Tone } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import css from './overview.module.css';

const words = text.overview;

export const SEVERITY_TONE: Record<string, Tone> = { critical: 'bad', high: 'bad', medium: 'warn', low: 'calm', info: 'calm' };

/** The alerts that fire, newest first. */
export function Attention() {
  const { slug } = useWorkspace();
  const alerts = useRead('GET /api/v1/alerts', { query: { status: 'firing', limit: 5 } }, { live: true });
  return (
    <Card
      title={words.attention}
      link={
        <Link to="/w/$slug/spend" params={{ slug }}>
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
                  <Tag tone={SEVERITY_TONE[alert.severity] ?? 'calm'}>{alert.severity}</Tag>
                  <span className={ui['name']}>{alert.rule_name}</span>
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

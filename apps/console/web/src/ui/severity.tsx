import type { Api } from '../api/api.ts';
import { text } from '../text/index.ts';
import { Tag, type Tone } from './parts.tsx';

const TONES: Record<Api.Alert['severity'], Tone> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'calm',
  info: 'calm',
};
const STATUS_TONES: Record<Api.Alert['status'], Tone> = { firing: 'bad', acknowledged: 'warn', resolved: 'ok' };

export function Severity({ severity }: { severity: Api.Alert['severity'] }) {
  return <Tag tone={TONES[severity]}>{text.alerts.severity[severity]}</Tag>;
}

export function AlertStatus({ status }: { status: Api.Alert['status'] }) {
  return <Tag tone={STATUS_TONES[status]}>{text.alerts.status[status]}</Tag>;
}

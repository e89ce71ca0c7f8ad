import type { Api } from '../api/api.ts';
import { useSpan } from '../app/span.ts';
import { date } from '../format/time.ts';
import { text } from '../text/index.ts';
import css from './ui.module.css';

/** Says from when on a list has events, if its span starts before. */
export function Removed({ window }: { window: Api.Window | undefined }) {
  const { zone } = useSpan();
  if (window?.events_from === undefined) return null;
  return <p className={css['hint']}>{text.common.removed(date(window.events_from, zone))}</p>;
}

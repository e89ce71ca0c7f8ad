import { rules } from '../../text/rules.ts';
import { Button } from '../../ui/button.tsx';
import { Checks } from '../../ui/checks.tsx';
import { TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';
import type { RouteForm } from './rule-kinds.ts';

const words = rules.form.routes;
const EMPTY: RouteForm = { label: '', value: '', channelIds: [] };
const MAX_ROUTES = 20;

interface RoutesProps {
  routes: readonly RouteForm[];
  channels: readonly (readonly [string, string])[];
  problem: string | undefined;
  onChange: (routes: readonly RouteForm[]) => void;
}

/** Other channels for alerts about calls with a label. */
export function RoutesField({ routes, channels, problem, onChange }: RoutesProps) {
  const change = (index: number, part: Partial<RouteForm>) =>
    onChange(routes.map((route, at) => (at === index ? { ...route, ...part } : route)));
  return (
    <fieldset className={ui['checks']}>
      <legend>{words.title}</legend>
      <span className={ui['hint']}>{words.hint}</span>
      {routes.map((route, index) => (
        <div key={index} className={ui['stack']}>
          <TextField
            label={words.label}
            required
            maxLength={32}
            value={route.label}
            onChange={({ target }) => change(index, { label: target.value })}
          />
          <TextField
            label={words.value}
            required
            maxLength={128}
            value={route.value}
            onChange={({ target }) => change(index, { value: target.value })}
          />
          <Checks
            label={words.channels}
            options={channels}
            chosen={route.channelIds}
            onChange={(channelIds) => change(index, { channelIds })}
          />
          <Button look="quiet" onClick={() => onChange(routes.filter((_, at) => at !== index))}>
            {words.remove}
          </Button>
        </div>
      ))}
      {problem !== undefined && <span className={ui['problem']}>{problem}</span>}
      {routes.length < MAX_ROUTES && <Button onClick={() => onChange([...routes, EMPTY])}>{words.add}</Button>}
    </fieldset>
  );
}

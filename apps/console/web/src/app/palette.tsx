import { useNavigate } from '@tanstack/react-router';
import { type ComponentProps, type KeyboardEvent, useId, useState } from 'react';
import { useAllAgents } from '../api/use-all.ts';
import { text } from '../text/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import ui from '../ui/ui.module.css';
import { useMay, useWorkspace } from './account.tsx';
import type { PauseDialog } from './later.ts';
import { useAllowedPages } from './menu.ts';
import css from './shell.module.css';
import { chooseTheme, THEMES } from './theme.ts';

interface Entry {
  key: string;
  name: string;
  kind: string;
  run: () => void;
}

/** What is to be paused. */
export type Pausing = Omit<ComponentProps<typeof PauseDialog>, 'onClose'>;

interface PaletteProps {
  onClose: () => void;
  /** Closes it, and asks for how long to pause it. */
  onPause: (what: Pausing) => void;
}

/** Finds everything that has a name by a typed part of the name. */
export function CommandPalette({ onClose, onPause }: PaletteProps) {
  const { entries, isLoading } = useEntries(onClose);
  const pauses = usePauses(onPause);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const wanted = typed.trim().toLowerCase();
  const found = [...entries, ...pauses]
    .filter(({ name, key }) => `${name} ${key}`.toLowerCase().includes(wanted))
    .slice(0, 50);
  const chosen = Math.min(at, found.length - 1);

  function onKeyDown(event: KeyboardEvent): void {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, to)));
      document.getElementById(`${list}-${to}`)?.scrollIntoView({ block: 'nearest' });
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      found[chosen]?.run();
    }
  }

  return (
    <Dialog title={text.common.palette.title} onClose={onClose}>
      <div className={ui['field']}>
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen < 0 ? undefined : `${list}-${chosen}`}
          aria-label={text.common.palette.placeholder}
          placeholder={text.common.palette.placeholder}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul className={css['palette']} role="listbox" id={list} aria-label={text.common.palette.title}>
        {found.map(({ key, name, kind, run }, index) => (
          <li key={key} id={`${list}-${index}`} role="option" aria-selected={index === chosen} onClick={run}>
            <span>{name}</span> <small>{kind}</small>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p role="status">{isLoading ? text.common.list.loading : text.common.palette.nothing}</p>}
    </Dialog>
  );
}

/** Last, so that all other entries come first. Its agents are those that {@link useEntries} has loaded. */
function usePauses(onPause: PaletteProps['onPause']): Entry[] {
  const { data } = useAllAgents();
  const mayPause = useMay('admin');
  if (!mayPause) return [];
  const words = text.common.palette;
  const things = (['key', 'label'] as const).map((thing) => ({
    key: `pause-${thing}`,
    name: words.pause[thing],
    kind: words.actions,
    run: () => onPause({ proposed: { thing } }),
  }));
  const agents = (data ?? []).map(({ agent_id: id, display_name: name }) => ({
    key: `pause ${id}`,
    name: words.pauseAgent(name),
    kind: words.actions,
    run: () => onPause({ agent: { id, name } }),
  }));
  return [...things, ...agents];
}

/** Pages and actions are there at once, agents when they have loaded. */
function useEntries(onClose: () => void): { entries: Entry[]; isLoading: boolean } {
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const { data, isPending } = useAllAgents();
  const pages = useAllowedPages().map(({ to, name }) => ({
    key: to,
    name,
    kind: text.common.palette.pages,
    run: () => {
      onClose();
      void navigate({ to, params: { slug } });
    },
  }));
  const agents = (data ?? []).map(({ agent_id, display_name }) => ({
    key: agent_id,
    name: display_name,
    kind: text.common.palette.agents,
    run: () => {
      onClose();
      void navigate({ to: '/w/$slug/agents/$agentId', params: { slug, agentId: agent_id } });
    },
  }));
  const themes = THEMES.map((theme) => ({
    key: `theme-${theme}`,
    name: `${text.common.theme.label}: ${text.common.theme[theme]}`,
    kind: text.common.palette.actions,
    run: () => {
      onClose();
      chooseTheme(theme);
    },
  }));
  return { entries: [...pages, ...agents, ...themes], isLoading: isPending };
}

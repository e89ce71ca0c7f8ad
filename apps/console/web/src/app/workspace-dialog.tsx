import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Api } from '../api/api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Zones } from '../ui/zones.tsx';
import { useWorkspace } from './account.tsx';
import css from './shell.module.css';
import { isZone } from './span-search.ts';
import { useSpan } from './span.ts';

/** The person's workspaces, and the time zone of the pages. */
export function WorkspaceDialog({ account, onClose }: { account: Api.Account; onClose: () => void }) {
  const current = useWorkspace();
  const span = useSpan();
  const [zone, setZone] = useState(span.zone);
  const known = isZone(zone);
  return (
    <Dialog title={text.common.workspaceMenu} onClose={onClose}>
      <div className={css['menu']}>
        {account.workspaces.map(({ id, slug, name, role }) => (
          <Link
            key={id}
            to="/w/$slug"
            params={{ slug }}
            aria-current={id === current.id ? 'true' : undefined}
            onClick={onClose}
          >
            {name} <small>{text.common.roles[role]}</small>
          </Link>
        ))}
        <Link to="/new-workspace">{text.common.newWorkspace}</Link>
      </div>
      <form
        className={css['form']}
        onSubmit={(event) => {
          event.preventDefault();
          if (!known) return;
          span.set({ zone });
          onClose();
        }}
      >
        <TextField
          label={text.common.zone.label}
          hint={text.common.zone.hint(current.timezone)}
          problem={known ? undefined : text.common.zone.unknown}
          list={Zones.id}
          value={zone}
          onChange={(event) => setZone(event.target.value)}
        />
        <Zones />
        <Button type="submit">{text.common.zone.show}</Button>
      </form>
    </Dialog>
  );
}

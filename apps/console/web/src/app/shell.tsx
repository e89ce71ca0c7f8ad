import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Fragment, Suspense, useCallback, useEffect, useState } from 'react';
import { type Api, callApi, TollkeeperError, useRead } from '../api/api.ts';
import { sessionHint, useConnection } from '../api/session.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { explain } from '../ui/explain.ts';
import { clearToasts, toast, Toasts } from '../ui/toasts.tsx';
import { useMayRead, useWorkspace } from './account.tsx';
import { PauseDialog, WorkspaceDialog } from './later.ts';
import { LoginForm } from './login-form.tsx';
import { Mark } from './mark.tsx';
import { useMenu } from './menu.ts';
import { CommandPalette, type Pausing } from './palette.tsx';
import { ProviderLinks, providersQuery } from './providers.tsx';
import css from './shell.module.css';
import { useSpan } from './span.ts';
import { chooseTheme, THEMES, useTheme } from './theme.ts';

const IS_MAC = /^(Mac|iP)/.test(navigator.platform);

/** The frame around every page of a workspace. */
export function Shell({ account }: { account: Api.Account }) {
  const workspace = useWorkspace();
  const { pathname } = useLocation();
  const { zone } = useSpan();
  const [opened, setOpened] = useState<{ what: 'menu' | 'palette' | 'workspace' | Pausing | null; at: string }>();
  // Changing the page closes dialogs of the page before.
  const open = opened?.at === pathname ? opened.what : null;
  const setOpen = useCallback(
    (what: 'menu' | 'palette' | 'workspace' | Pausing | null) => setOpened({ what, at: pathname }),
    [pathname],
  );
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // A dialog may contain a secret that is shown only once.
      if (document.querySelector('dialog[open]') === null) setOpen('palette');
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [setOpen]);
  useEffect(() => clearToasts, []);

  return (
    <div className={css['app']}>
      <a className={css['skip']} href="#content">
        {text.common.skip}
      </a>
      <header className={css['bar']}>
        <Brand slug={workspace.slug} />
        <Button aria-expanded={open === 'menu'} onClick={() => setOpen(open === 'menu' ? null : 'menu')}>
          {text.common.nav.open}
        </Button>
      </header>
      <aside
        className={css['side']}
        data-open={open === 'menu'}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setOpen(null);
        }}
      >
        <Brand slug={workspace.slug} />
        <button
          type="button"
          className={css['chooser']}
          title={text.common.workspaceMenu}
          onClick={() => setOpen('workspace')}
        >
          <span>{workspace.name}</span> <small>{zone}</small>
        </button>
        <button type="button" className={css['find']} onClick={() => setOpen('palette')}>
          <span>{text.common.palette.open}</span>{' '}
          <kbd>{IS_MAC ? text.common.palette.keysOfMac : text.common.palette.keys}</kbd>
        </button>
        <Menu slug={workspace.slug} />
        <Me account={account} role={workspace.role} />
      </aside>
      <div>
        <LostBanner />
        <main className={css['main']} id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      {open === 'palette' && <CommandPalette onClose={() => setOpen(null)} onPause={setOpen} />}
      <Suspense>
        {open === 'workspace' && <WorkspaceDialog account={account} onClose={() => setOpen(null)} />}
        {typeof open === 'object' && open !== null && <PauseDialog {...open} onClose={() => setOpen(null)} />}
      </Suspense>
      <SessionEnded account={account} />
      <Toasts />
    </div>
  );
}

function Brand({ slug }: { slug: string }) {
  return (
    <Link to="/w/$slug" params={{ slug }} className={css['brand']}>
      <Mark />
      {text.common.product}
    </Link>
  );
}

function Menu({ slug }: { slug: string }) {
  const pages = useMenu();
  const groups = [...new Set(pages.map(({ group }) => group))];
  return (
    <nav className={css['nav']} aria-label={text.common.nav.label}>
      {groups.map((group) => (
        <Fragment key={group}>
          {group !== null && <h2>{group}</h2>}
          {pages
            .filter((page) => page.group === group)
            .map(({ to, name }) => (
              <Link
                key={to}
                to={to}
                params={{ slug }}
                activeOptions={{ exact: to === '/w/$slug', includeSearch: false }}
              >
                {name}
                {to.endsWith('/alerts') && <FiringCount />}
              </Link>
            ))}
        </Fragment>
      ))}
    </nav>
  );
}

function FiringCount() {
  const mayRead = useMayRead('admin');
  const query = { status: 'firing', limit: 1 } as const;
  const { data } = useRead('GET /api/v1/alerts', { query }, { live: true, enabled: mayRead });
  if (data === undefined || data.total === 0) return null;
  return (
    <span className={css['count']}>
      <span aria-hidden="true">{data.total}</span>
      <span className="heard">{text.common.firing(data.total)}</span>
    </span>
  );
}

function Me({ account, role }: { account: Api.Account; role: Api.WorkspaceRole }) {
  const theme = useTheme();
  const client = useQueryClient();
  const navigate = useNavigate();
  async function logOut(): Promise<void> {
    // Reads that are on their way would be refused.
    await client.cancelQueries();
    try {
      await callApi(undefined, 'POST /api/v1/auth/logout', {});
    } catch (error) {
      // A session that has already ended need not be ended.
      if (!(error instanceof TollkeeperError) || error.status !== 401) {
        toast(explain(error).message, { tone: 'bad' });
        await client.invalidateQueries();
        return;
      }
    }
    sessionHint.clear();
    await navigate({ to: '/login' });
    // Not earlier, because the page would refetch its data.
    client.clear();
  }
  return (
    <div className={css['me']}>
      <span>
        {account.user.email || account.user.login_name} · {text.common.roles[role]}
      </span>
      <label>
        <span className="heard">{text.common.theme.label}</span>
        <select
          value={theme}
          onChange={(event) => chooseTheme(THEMES.find((each) => each === event.target.value) ?? 'system')}
        >
          {THEMES.map((each) => (
            <option key={each} value={each}>
              {text.common.theme[each]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => void logOut()}>
        {text.common.logOut}
      </button>
    </div>
  );
}

function LostBanner() {
  const { lost } = useConnection();
  return <div role="status">{lost && <p className={css['banner']}>{text.common.lost.banner}</p>}</div>;
}

/** For people without a password. It comes last, because following it loses what they typed. */
function ProvidersHere() {
  const { data } = useQuery(providersQuery);
  if (data === undefined || data.items.length === 0) return null;
  return <ProviderLinks providers={data.items} returnTo={location.pathname + location.search} />;
}

/** Shown over the page, so that nothing typed is lost. */
function SessionEnded({ account }: { account: Api.Account }) {
  const { ended } = useConnection();
  const client = useQueryClient();
  if (!ended) return null;
  return (
    <Dialog title={text.login.ended.title} stays onClose={() => undefined}>
      <p>{text.login.ended.text}</p>
      <LoginForm login={account.user.login_name} onDone={() => void client.invalidateQueries()} />
      <p>
        <a href="/login">{text.login.ended.other}</a>
      </p>
      <ProvidersHere />
    </Dialog>
  );
}

import { Navigate, useParams } from '@tanstack/react-router';
import { TollkeeperError, WorkspaceSlug } from '../api/api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { Failed, Note, Skeleton } from '../ui/parts.tsx';
import { useAccount, WorkspaceProvider } from './account.tsx';
import { Shell } from './shell.tsx';
import css from './shell.module.css';

/** Redirects to the person's first workspace. */
export function HomeGate() {
  const first = useAccount().workspaces[0];
  if (first === undefined) return <Navigate to="/new-workspace" replace />;
  return <Navigate to="/w/$slug" params={{ slug: first.slug }} replace />;
}

/** The pages of one workspace, for its members. */
export function WorkspaceGate() {
  const { slug } = useParams({ strict: false });
  const account = useAccount();
  const workspace = account.workspaces.find((each) => each.slug === slug);
  if (workspace === undefined) return <NotFound />;
  return (
    <WorkspaceSlug.Provider value={workspace.slug} key={workspace.id}>
      <WorkspaceProvider value={workspace}>
        <Shell account={account} />
      </WorkspaceProvider>
    </WorkspaceSlug.Provider>
  );
}

export function Waiting() {
  return (
    <div className={css['door']} role="status" aria-label={text.common.list.loading}>
      <Skeleton height={24} width="160px" />
    </div>
  );
}

export function NotFound() {
  return (
    <main className={css['door']}>
      <Note title={text.common.notFound.title}>
        <span>{text.common.notFound.text}</span>
        <a href="/">{text.common.notFound.home}</a>
      </Note>
    </main>
  );
}

/** Shown after an error of the page itself. */
export function PageFailed({ error }: { error: unknown }) {
  if (error instanceof TollkeeperError) {
    return (
      <main className={css['door']}>
        <Failed error={error} retry={() => location.reload()} />
      </main>
    );
  }
  // For developers who look at the browser's console; the page says what to do.
  reportError(error);
  return (
    <main className={css['door']}>
      <Note title={text.common.failed.unknown}>
        <Button onClick={() => location.reload()}>{text.common.failed.reload}</Button>
      </Note>
    </main>
  );
}

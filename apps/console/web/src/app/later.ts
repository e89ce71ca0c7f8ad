import { lazyRouteComponent } from '@tanstack/react-router';

/** Parts that the first page can do without. Their files are loaded with those of the other pages. */
export const WorkspaceDialog = lazyRouteComponent(() => import('./workspace-dialog.tsx'), 'WorkspaceDialog');
export const PauseDialog = lazyRouteComponent(() => import('../pages/pauses/pause-dialog.tsx'), 'PauseDialog');
export const RunUpBars = lazyRouteComponent(() => import('../pages/budgets/run-up-bars.tsx'), 'RunUpBars');

export const LATER = [WorkspaceDialog, PauseDialog, RunUpBars] as const;

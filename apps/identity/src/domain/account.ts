import type { User } from './user.ts';
import type { WorkspaceOfUser } from './workspace.ts';

/** A user with their workspaces. */
export interface Account {
  user: User;
  workspaces: WorkspaceOfUser[];
}

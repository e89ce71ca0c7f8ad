const keyOf = (workspaceId: string) => `tollkeeper.set-up.${workspaceId}`;

/** Whether a workspace still had to be set up when this browser saw it last: its steps are shown without waiting. */
export const setUpHint = {
  get: (workspaceId: string) => localStorage.getItem(keyOf(workspaceId)) !== null,
  set(workspaceId: string, needed: boolean): void {
    if (needed) localStorage.setItem(keyOf(workspaceId), 'yes');
    else localStorage.removeItem(keyOf(workspaceId));
  },
};

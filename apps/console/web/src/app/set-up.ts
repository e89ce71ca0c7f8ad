const keyOf = (workspaceId: string) => `tollkeeper.set-up.${workspaceId}`;

/** Whether a workspace still had to be set up when this browser saw it last; undefined where it never has. */
export const setUpHint = {
  get(workspaceId: string): boolean | undefined {
    const seen = localStorage.getItem(keyOf(workspaceId));
    return seen === null ? undefined : seen === 'yes';
  },
  set: (workspaceId: string, needed: boolean) => localStorage.setItem(keyOf(workspaceId), needed ? 'yes' : 'no'),
};

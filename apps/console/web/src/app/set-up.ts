const keyOf = (workspaceId: string) => `tollkeeper.set-up.${workspaceId}`;

/** Whether a workspace still had to be set up at this browser's last visit; undefined without a visit. */
export const setUpHint = {
  get(workspaceId: string): boolean | undefined {
    const seen = localStorage.getItem(keyOf(workspaceId));
    return seen === null ? undefined : seen === 'yes';
  },
  set: (workspaceId: string, needed: boolean) => localStorage.setItem(keyOf(workspaceId), needed ? 'yes' : 'no'),
};

export const invitation = {
  title: (workspace: string) => `Join ${workspace}`,
  line: (inviter: string, role: string) => `${inviter} invited you to this workspace as ${role}.`,
  asks: 'Invitation',
  invalid: {
    title: 'This invitation is not valid',
    text: 'It was used, revoked or replaced, or it has expired. Ask a workspace owner for a new one.',
  },
  member: (name: string, loginName: string) => `You are logged in as ${name} (${loginName}).`,
  join: 'Join',
  other: 'Log out and join as someone else',
  form: {
    name: 'Your name',
    loginName: 'Login name',
    loginNameHint: 'Letters, digits and . _ -. Leave empty to have one generated.',
    password: 'Password',
    passwordHint: 'At least 12 characters.',
    submit: 'Create account and join',
    busy: 'Joining',
  },
  known: 'I have an account',
  unknown: 'I don’t have an account',
  joined: {
    title: 'You have joined',
    text: 'Log in with this login name. Keep it with your password.',
    go: (workspace: string) => `Go to ${workspace}`,
  },
};

export const invitation = {
  title: (workspace: string) => `Join ${workspace}`,
  line: (inviter: string, role: string) => `${inviter} invites you to this workspace as ${role}.`,
  asks: 'An invitation',
  invalid: {
    title: 'This invitation is not valid',
    text: 'It was used, revoked or replaced, or it has expired. Ask an owner of the workspace for a new one.',
  },
  member: (name: string, loginName: string) => `You are logged in as ${name} (${loginName}).`,
  join: 'Join',
  other: 'Log out and join as somebody else',
  form: {
    name: 'Your name',
    loginName: 'Login name',
    loginNameHint: 'Letters, digits and . _ -; leave it empty to get one.',
    password: 'Password',
    passwordHint: 'At least 12 characters.',
    submit: 'Make the account and join',
    busy: 'Joining',
  },
  known: 'I have an account',
  unknown: 'I have no account yet',
  joined: {
    title: 'You have joined',
    text: 'This is what you log in with. Keep it with your password.',
    go: (workspace: string) => `Go to ${workspace}`,
  },
};

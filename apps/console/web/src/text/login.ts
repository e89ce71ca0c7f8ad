export const login = {
  title: 'Log in',
  lead: 'See where your agents’ money goes, and decide how much of it.',
  email: 'Login name or e-mail',
  password: 'Password',
  submit: 'Log in',
  busy: 'Logging in',
  forgot: 'Forgot your password?',
  wrong: 'The login name or the password is wrong.',
  wait: (time: string) => `Too many attempts. You can try again in ${time}.`,
  ended: {
    title: 'Your session has ended',
    text: 'Log in again to go on where you are. Nothing that you typed is lost.',
    other: 'Log in as somebody else',
  },
};

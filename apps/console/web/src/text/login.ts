export const login = {
  title: 'Log in',
  lead: 'See what your agents spend, and set their limits.',
  email: 'Login name or e-mail',
  password: 'Password',
  submit: 'Log in',
  busy: 'Logging in',
  forgot: 'Forgot your password?',
  wrong: 'Wrong login name or password.',
  wait: (time: string) => `Too many attempts. Try again in ${time}.`,
  ended: {
    title: 'Your session has ended',
    text: 'Log in again to pick up where you left off. Nothing you typed is lost.',
    other: 'Log in as someone else',
  },
};

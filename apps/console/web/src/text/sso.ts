/** The facts of a failed login, in the order of the page. */
type Facts = Readonly<Record<string, string>>;

const duration = (text: string) => {
  const seconds = Math.abs(Number(text));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
};

export const sso = {
  or: 'or with a password',
  withPassword: 'Log in with a password',
  done: 'Logging in',
  failed: {
    title: 'Login failed',
    by: (provider: string) => `Single sign-on with “${provider}” failed.`,
    again: 'Back to login',
    request: 'Request',
    provider: 'Provider',
    facts: {
      host: 'Address',
      problem: 'Problem',
      expected: 'Expected',
      got: 'Received',
      error: 'Error',
      description: 'Description from the provider',
      claim: 'Claim',
      seconds: 'Difference in seconds',
      tolerance: 'Allowed difference in seconds',
      missing: 'Missing claims',
      left_out: 'Claims omitted because they are too long',
      person: 'Your account at the provider',
    } as Record<string, string>,
    unknown: {
      title: 'This login has expired',
      text: 'A login works once, within 10 minutes, in the browser that started it. Log in again.',
    },
    /** For the person who logs in, and for their administrator. */
    reasons: {
      provider_unreachable: () => ({
        what: 'The provider is unreachable.',
        do: 'Try again in a minute, or log in with a password. If it keeps failing, show this page to your Tollkeeper administrator.',
      }),
      provider_invalid: () => ({
        what: 'The provider sent an invalid response.',
        do: 'Show this page to your Tollkeeper administrator: the configured issuer may be wrong, or the provider has a fault.',
      }),
      issuer_mismatch: () => ({
        what: 'The provider’s issuer differs from the configured one.',
        do: 'Show this page to your Tollkeeper administrator. Issuers must match exactly, including a trailing slash.',
      }),
      log_in_refused: () => ({
        what: 'The provider denied the login.',
        do: 'Log in again, or ask the provider’s administrator for access to Tollkeeper.',
      }),
      client_refused: () => ({
        what: 'The provider rejected Tollkeeper’s client ID and secret.',
        do: 'Show this page to your Tollkeeper administrator: the secret may have expired.',
      }),
      code_refused: () => ({
        what: 'The provider rejected the code of this login.',
        do: 'Log in again. If it keeps failing, show this page to your Tollkeeper administrator.',
      }),
      token_invalid: () => ({
        what: 'The provider’s ID token is not for Tollkeeper, or its signature is wrong.',
        do: 'Show this page to your Tollkeeper administrator.',
      }),
      clock_off: ({ seconds = '0' }) => ({
        what:
          Number(seconds) > 0
            ? `The provider’s clock is ${duration(seconds)} ahead of Tollkeeper’s.`
            : `The provider’s clock is ${duration(seconds)} behind Tollkeeper’s.`,
        do: 'Show this page to your Tollkeeper administrator: one of the two clocks is wrong.',
      }),
      subject_mismatch: () => ({
        what: 'The provider described two different people in one login.',
        do: 'Show this page to the provider’s administrator.',
      }),
      claim_missing: ({ claim = '' }) => ({
        what: `The provider did not send the claim ${claim}.`,
        do: 'Show this page to the provider’s administrator.',
      }),
      not_mapped: () => ({
        what: 'None of your groups has access to a workspace.',
        do: 'Ask the administrator of your groups for access. Then log in again.',
      }),
      no_account: () => ({
        what: 'You don’t have an account.',
        do: 'Ask a workspace owner for an invitation.',
      }),
      busy: () => ({
        what: 'Too many people are logging in right now.',
        do: 'Try again in a few seconds.',
      }),
    } satisfies Record<string, (facts: Facts) => { what: string; do: string }>,
  },
  link: {
    title: 'Do you have an account?',
    lead: (provider: string, email: string | null) =>
      email === null
        ? `You logged in with “${provider}” for the first time.`
        : `You logged in with “${provider}” as ${email} for the first time.`,
    ask: 'If you already have an account, link it by entering its password once. After that, log in with the provider alone.',
    login: 'Login name or e-mail',
    password: 'Account password',
    submit: 'Link account',
    busy: 'Checking',
    wrong: 'Wrong login name or password.',
    isNew: 'I don’t have an account',
    newText:
      'You get an account of your own. If someone else registered your e-mail, they keep their account without it.',
    notNew: 'If you don’t have one, ask a workspace owner for an invitation.',
    making: 'Creating account',
  },
  report: {
    button: 'Single sign-on',
    buttonOf: (name: string) => `Single sign-on of ${name}`,
    title: (name: string) => `Single sign-on of ${name}`,
    none: 'This member has not logged in with single sign-on.',
    issuer: 'Issuer',
    subject: 'Subject',
    at: 'Last login',
    grant: 'Role from the mapping',
    granted: (role: string, claim: string, value: string) => `${role}, because ${claim} contains ${value}`,
    notGranted: 'No mapping of this workspace matches',
    claims: 'Claims used by mappings',
    notSent: 'not sent',
    empty: 'empty',
    others: 'All claims sent by the provider',
  },
};

import { afterAll, beforeAll, describe } from '@jest/globals';
import { type MailServer, startMailServer } from '@tollkeeper/testing/mail-server';
import { useWorkspaceInBrowser } from '../src/console/workspace.stage.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeConsoleMail } from '../src/suites/console/mail.suite.ts';
import { describeRunaway } from '../src/suites/console/runaway.suite.ts';

describe('the console of a Tollkeeper that sends mail, in a browser', () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
  });
  afterAll(() => server.stop());
  const stage = useStandalone(() => ({
    SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=none`,
    MAIL_FROM: 'tollkeeper@example.com',
  }));
  const console = useWorkspaceInBrowser(stage);
  describeConsoleMail(stage, console, () => server);
  describeRunaway(stage, console, () => server);
});

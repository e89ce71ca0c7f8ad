import { describeBackup } from '../src/suites/backup.suite.ts';

describeBackup();

import { useSearchedStandalone } from '../src/searched.stage.ts';
import { describeSenders } from '../src/suites/senders.suite.ts';

describeSenders(useSearchedStandalone());

/**
 * Environment variable that passes the connection string of the run's `mongod` to the suites from the global set-up,
 * which jest loads outside of its test environment.
 */
export const MONGO_URI_VARIABLE = 'TOLLKEEPER_TEST_MONGODB_URI';

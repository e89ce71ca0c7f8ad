export { defaultCacheDirectory } from './cache.directory.ts';
export { cacheEntry, type CacheEntryOptions } from './cache.entry.ts';
export { freePort, isFree } from './free-port.ts';
export { killWithOwner } from './owner.watcher.ts';
export { LockHeldError, lockFile, waitForLock } from './process.lock.ts';
export { commandLine, halt, processIdentity, waitUntilGone } from './running-process.ts';

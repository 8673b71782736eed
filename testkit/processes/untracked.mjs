/**
 * Loaded first by the test processes of a whole run. `node:test` tracks every promise with an async hook, to attribute uncaught errors to a
 * test: an `await` takes seven times as long (Node 24.21), and tests that wait for databases a tenth more processor time. Without the hook
 * such an error still fails its file; `npm test -- <file>` attributes it to its test.
 */
import { createRequire } from 'node:module'

// The runner reads `createHook` from here when it is first imported.
const hooks = createRequire(import.meta.url)('node:async_hooks')
const { createHook } = hooks

const NONE = { enable: () => NONE, disable: () => NONE }

hooks.createHook = (callbacks) =>
  new Error().stack?.includes('node:internal/test_runner/') === true ? NONE : createHook(callbacks)

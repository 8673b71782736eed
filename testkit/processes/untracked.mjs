/**
 * Loaded before everything else by the test processes of a whole run. `node:test` follows every promise of a process by an async hook, to
 * say which test threw what no one caught: an `await` takes seven times as long (Node 24.21), and the tests that wait for databases a tenth
 * more of a processor. Without it such an error still fails its file; `npm test -- <file>` follows it to its test.
 */
import { createRequire } from 'node:module'

// The runner takes `createHook` from here when it is first imported.
const hooks = createRequire(import.meta.url)('node:async_hooks')
const { createHook } = hooks

const NONE = { enable: () => NONE, disable: () => NONE }

hooks.createHook = (callbacks) =>
  new Error().stack?.includes('node:internal/test_runner/') === true ? NONE : createHook(callbacks)

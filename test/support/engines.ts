import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { migrate, openSqliteStore, type Store } from '../../src/store/index.ts'

/** A database engine that store tests run on. A new engine is one more entry in `engines`. */
export interface TestEngine {
  name: string
  /** Opens an empty, migrated store; the test's end closes it and removes what it left. */
  open: (t: TestContext) => Promise<Store>
}

const sqlite: TestEngine = {
  name: 'SQLite',
  async open(t) {
    const store = await openSqliteStore(await tempDir(t))
    t.after(() => store.close())
    await migrate(store.write, store.columnTypes)
    return store
  },
}

export const engines: readonly TestEngine[] = [sqlite]

/** Declares the same test once for every engine, each with an empty store of its own. */
export function testOnEveryEngine(title: string, body: (store: Store, t: TestContext) => Promise<void>): void {
  for (const engine of engines) {
    test(`${title} (${engine.name})`, async (t) => body(await engine.open(t), t))
  }
}

/** A new empty folder that goes with the test. */
export async function tempDir(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tagwarden-test-'))
  // `after` hooks run in the order they were added, so whatever uses the folder must have closed by then: retry briefly.
  t.after(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

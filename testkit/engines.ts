import { tmpdir } from 'node:os'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { openStore, type Store } from '../src/store/index.ts'
import { fastestFolder, newFolder, removeFolder } from './folders.ts'
import { amount, isInTurn } from './length.ts'
import { createDatabase, type TestDatabase } from './postgres/databases.ts'
import { leaseDatabase } from './postgres/kept-databases.ts'
import { copyTemplate, openWithoutThreads } from './sqlite.ts'

/** The place of one test's data. */
export interface Place {
  /** The settings with which the program finds it. */
  environment: Record<string, string>
  /** Call it when everything that used it has closed. */
  remove: () => Promise<void>
}

/** A database engine that tests run on. A new engine is one more entry in `engines`. */
export interface TestEngine {
  name: string
  /** Makes a migrated place without data. */
  newPlace: () => Promise<Place>
  open: typeof openStore
}

export const sqlite: TestEngine = {
  name: 'SQLite',
  async newPlace() {
    const folder = await newFolder(await fastestFolder())
    await copyTemplate(folder)
    return { environment: { DATA_DIR: folder }, remove: () => removeFolder(folder) }
  },
  open: openWithoutThreads,
}

/** Opened as by the program, for tests of the engine itself. */
const threadedSqlite: TestEngine = { ...sqlite, open: openStore }

const postgresWith = (newDatabase: () => Promise<TestDatabase>): TestEngine => ({
  name: 'PostgreSQL',
  async newPlace() {
    const { url, drop } = await newDatabase()
    return { environment: { DATABASE_URL: url }, remove: drop }
  },
  open: openStore,
})

/** Reuses databases and sessions of earlier tests, because making new ones was nine tenths of a test's cost. */
export const postgres: TestEngine = postgresWith(leaseDatabase)
/** A new database with new sessions, for tests of the engine itself. */
export const newPostgres: TestEngine = postgresWith(createDatabase)

export const engines: readonly TestEngine[] = [sqlite, postgres]
const realEngines: readonly TestEngine[] = [threadedSqlite, newPostgres]
/** For logic whose statements other tests send to PostgreSQL on every change: only SQLite, and at night every engine. */
export const logicEngines: readonly TestEngine[] = engines.slice(0, amount(1, engines.length))

/** For slow tests that are much the same on both engines: on each change one of them in turn, and at night every engine. */
export const enginesInTurn: readonly TestEngine[] = engines.filter((_engine, n) => isInTurn(n, engines.length))

/** Declares the same test once for every engine. */
export function testPerEngine(
  title: string,
  body: (engine: TestEngine, t: TestContext) => Promise<void>,
  among = engines,
): void {
  for (const engine of among) test(`${title} (${engine.name})`, (t) => body(engine, t))
}

/** Declares the same test once for every engine, each with its own empty store. */
export function testOnEveryEngine(
  title: string,
  body: (store: Store, t: TestContext) => Promise<void>,
  among = engines,
): void {
  testPerEngine(title, async (engine, t) => body(await openEmptyStore(engine, t), t), among)
}

/** Declares a test of logic whose statements other tests send to PostgreSQL on every change, on the `logicEngines`. */
export const testLogic = (title: string, body: (store: Store, t: TestContext) => Promise<void>): void =>
  testOnEveryEngine(title, body, logicEngines)

/** The same with the program's threads, for tests of the store itself. */
export const testOnEveryRealEngine = (title: string, body: (store: Store, t: TestContext) => Promise<void>): void =>
  testOnEveryEngine(title, body, realEngines)

/** Makes a place that is removed with the test and returns its settings, for programs that the test starts on it. */
export async function placeFor(engine: TestEngine, t: TestContext): Promise<Place['environment']> {
  const { environment, remove } = await engine.newPlace()
  lastly(t, remove)
  return environment
}

/** Opens an empty, migrated store, which closes with the test. */
export async function openEmptyStore(engine: TestEngine, t: TestContext): Promise<Store> {
  const environment = await placeFor(engine, t)
  const report = (error: Error, what: string) => t.diagnostic(`${what}: ${error.message}`)
  const store = await engine.open(readConfig(environment), report)
  t.after(() => store.close())
  return store
}

/** A new empty folder that is removed with the test. */
export async function tempDir(t: TestContext): Promise<string> {
  const path = await newFolder(tmpdir())
  lastly(t, () => removeFolder(path))
  return path
}

/**
 * Cleans up after the test's other `after` hooks have closed what used it. Hooks run in the order in which they were added, and one added
 * by another hook runs after all others.
 */
function lastly(t: TestContext, cleanUp: () => Promise<void>): void {
  t.after(() => t.after(cleanUp))
}

import { resolve } from 'node:path'
import type { SiteKey } from '../../testkit/api.ts'
import { addSites } from '../../testkit/many-sites.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

/** A checkout of Tagwarden that is measured. */
export interface Program {
  name: string
  folder: string
  /** Follows what a row of the results is called; nothing for this checkout. */
  label: string
}

/** This checkout and, where one is given, the one that it is measured in turn with, which comes first. */
export const programsWith = (against: string | undefined): readonly Program[] => [
  ...(against === undefined ? [] : [{ name: 'before', folder: resolve(against), label: ', before' }]),
  { name: 'now', folder: REPOSITORY, label: '' },
]

export const startProgram = (session: Session, program: Program, dataDir: string): Promise<ServerProcess> =>
  startTagwarden(session, dataDir, {}, program.folder)

/** Starts a program on sites of its own. It makes its tables itself, as versions do that differently. */
export async function startWithSites(
  session: Session,
  program: Program,
  count: number,
): Promise<{ server: ServerProcess; sites: SiteKey[] }> {
  const dataDir = session.newFolder('data')
  const server = await startProgram(session, program, dataDir)
  await server.stop()
  const sites = await addSites(dataDir, count)
  await server.start()
  return { server, sites }
}

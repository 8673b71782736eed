import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { type ServerProcess, serve } from '../../testkit/processes/server-process.ts'
import type { Session } from '../../testkit/processes/session.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

/** A checkout of Tagwarden that is measured. */
export interface Program {
  name: string
  folder: string
  /** Not this checkout, but what it is compared with. */
  isOther: boolean
}

const PACKAGE = Type.Object({ scripts: Type.Object({ start: Type.String() }) })

/** This checkout and, where one is given, the one that it is measured in turn with, which comes first. */
export const programsWith = (against: string | undefined): readonly Program[] => [
  ...(against === undefined ? [] : [{ name: 'before', folder: resolve(against), isOther: true }]),
  { name: 'now', folder: REPOSITORY, isOther: false },
]

/** Starts a program as its own `npm start` does, with the memory that it asks for there. */
export function startProgram(session: Session, program: Program, dataDir: string): Promise<ServerProcess> {
  const { scripts } = Value.Parse(PACKAGE, JSON.parse(readFileSync(join(program.folder, 'package.json'), 'utf8')))
  const flags = scripts.start.match(/--\S+/g) ?? []
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', NODE_ENV: 'production', MALLOC_ARENA_MAX: '2' }
  return session.startServer(`tagwarden-${program.name}`, (port) => ({
    ...serve({ PORT: String(port), ...settings }),
    args: [...flags, join(program.folder, 'bin/tagwarden.mjs'), 'serve'],
  }))
}

import { join } from 'node:path'

/** The project's top folder. */
export const REPOSITORY = join(import.meta.dirname, '..')
/** Where a run of many tests says what starts the program. */
export const PROGRAM_FOR_TESTS = 'TAGWARDEN_TEST_PROGRAM'
/** What starts the program from its sources. */
export const PROGRAM_OF_SOURCES = join(REPOSITORY, 'bin/tagwarden.mjs')
/** What starts the program: a run of many tests has it bundled, as it is published, which starts in two thirds of the processor time. */
export const PROGRAM = process.env[PROGRAM_FOR_TESTS] ?? PROGRAM_OF_SOURCES

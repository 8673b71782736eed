import { StartupError } from '../../lib/index.ts'

/** A place in a file; lines and columns count from 1. */
export interface Place {
  file: string
  line: number
  column: number
}

/** A problem and its place; null when it is not in a file. */
export interface Problem {
  place: Place | null
  message: string
}

/** Maximum number of problems shown: the first hundred are enough to see what they have in common. */
const SHOWN_MAX = 100

/** The files ask for something that cannot be done. The message has a line for each problem. */
export class ConfigProblems extends StartupError {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(inLines(problems))
    this.name = 'ConfigProblems'
    this.problems = problems
  }
}

function inLines(problems: readonly Problem[]): string {
  const lines = problems.slice(0, SHOWN_MAX).map(problemLine)
  const rest = problems.length - lines.length
  if (rest > 0) lines.push(`… and ${rest} more`)
  return lines.length === 1 ? lines.join() : `${problems.length} problems\n${lines.join('\n')}`
}

const problemLine = ({ place, message }: Problem): string =>
  place === null ? message : `${place.file}:${place.line}:${place.column}: ${message}`

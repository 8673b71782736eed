/** How many events the reports show for a site, each by a table of its own. */
export interface Seen {
  events: number
  /** Executions, divided by the tags that each of the site's events has. */
  executions: number
  /** The same by event and tag. */
  pairs: number
}

/** What was sent to a site in one round. Every request holds one event, and of one site all have as many tags. */
export interface Sent {
  acknowledged: number
  /** Answered by an error after the commit may have begun, or not at all: it is unknown whether they count. */
  unsure: number
}

export interface Verdict {
  lost: number
  twice: number
  /** Of the unsure ones, those that turned out to be there: their commit had landed. */
  landed: number
  /** Everything that breaks the promise, in words; empty when it is kept. */
  problems: string[]
}

const VIEWS = ['events', 'executions', 'pairs'] as const

/**
 * Compares what a site was sent in a round with what its reports have grown by. What was acknowledged must be there once;
 * what is unsure may be there once or not at all. Each site is judged separately, and has only one sender, so that a request
 * that was lost hides behind as few unsure ones as possible.
 */
export function judge(site: string, sent: Sent, before: Seen, after: Seen): Verdict {
  const verdict: Verdict = { lost: 0, twice: 0, landed: 0, problems: [] }
  for (const view of VIEWS) {
    const grown = after[view] - before[view]
    const lost = Math.max(0, sent.acknowledged - grown)
    const twice = Math.max(0, grown - sent.acknowledged - sent.unsure)
    verdict.lost = Math.max(verdict.lost, lost)
    verdict.twice = Math.max(verdict.twice, twice)
    if (lost + twice > 0) {
      verdict.problems.push(
        `${site}: ${sent.acknowledged} acknowledged, ${sent.unsure} unsure, but its ${view} grew by ${grown}`,
      )
    }
  }
  verdict.landed = Math.min(sent.unsure, Math.max(0, after.events - before.events - sent.acknowledged))
  if (VIEWS.some((view) => after[view] !== after.events)) {
    verdict.problems.push(`${site}: the reports do not agree: ${JSON.stringify(after)}`)
  }
  return verdict
}

/** The sum of the verdicts on several sites. */
export function sumOfVerdicts(verdicts: readonly Verdict[]): Verdict {
  return {
    lost: verdicts.reduce((sum, { lost }) => sum + lost, 0),
    twice: verdicts.reduce((sum, { twice }) => sum + twice, 0),
    landed: verdicts.reduce((sum, { landed }) => sum + landed, 0),
    problems: verdicts.flatMap(({ problems }) => problems),
  }
}

import { StartupError } from '../../lib/index.ts'
import { type Api, forEachOf, NameTakenError, RefusedError } from './api.ts'
import { type Change, STAGES } from './change.ts'
import { canonical } from './fields.ts'
import { ConfigProblems, type Problem } from './problems.ts'
import { problemOf } from './wanted.ts'

/**
 * Makes the changes stage by stage. All changes of a stage are tried, so that one run reports everything the service refuses; after a
 * refusal the later stages are not begun.
 *
 * @param onDone receives the number of changes made so far
 * @throws StartupError naming what was refused and how many changes were made
 */
export async function carryOut(
  api: Api,
  changes: readonly Change[],
  onDone: (done: number) => void = () => undefined,
): Promise<void> {
  let done = 0
  const problems: Problem[] = []
  try {
    for (const stage of STAGES) {
      await forEachOf(
        changes.filter((change) => change.stage === stage),
        async (change) => {
          const refused = await refusalOf(api, change)
          problems.push(...refused)
          if (refused.length === 0) onDone(++done)
        },
      )
      if (problems.length > 0) throw new ConfigProblems(problems)
    }
  } catch (thrown) {
    if (!(thrown instanceof StartupError)) throw thrown
    const when = thrown instanceof NameTakenError ? 'that run has ended' : 'this is fixed'
    throw new StartupError(
      `${thrown.message}\n${done} of ${changes.length} changes were made, and none is lost: run it again once ${when}`,
    )
  }
}

/** Makes one change and returns why it was refused, empty when accepted. @throws StartupError when any other would fail, too */
async function refusalOf(api: Api, change: Change): Promise<readonly Problem[]> {
  try {
    await make(api, change)
    return []
  } catch (thrown) {
    if (thrown instanceof NameTakenError) {
      throw new NameTakenError(`${change.what} was created by another run since the plan`)
    }
    if (!(thrown instanceof RefusedError) || thrown.status >= 500 || [401, 403, 429].includes(thrown.status))
      throw thrown
    const { source, what, action } = change
    if (action === 'delete' && thrown.status === 404) return []
    if (source === null) return [{ place: null, message: `${what}: ${thrown.message}` }]
    if (thrown.details.length === 0) return [source.problem(`${what}: ${thrown.message}`)]
    return thrown.details.map((detail) => problemOf(source, detail))
  }
}

type Created = { id?: string } | undefined

async function make(api: Api, { calls, recheck, ref, answered, what }: Change): Promise<void> {
  if (recheck !== undefined && canonical(await recheck.read()) !== canonical(recheck.basis)) {
    throw new RefusedError(409, `${what} has just been changed by someone else: run it again`)
  }
  for (const [index, { method, path, body, onlyNew }] of calls().entries()) {
    const value =
      onlyNew === true ? await api.create<Created>(path, body) : (await api.send<Created>(method, path, body)).value
    if (index > 0) continue
    if (value?.id !== undefined) ref?.set(value.id)
    answered?.(value)
  }
}

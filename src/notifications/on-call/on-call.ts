import { AppError, DAY, invalidRequest, newId, newOrderedId, notFound } from '../../lib/index.ts'
import { type Context, lockClient, writeAudit } from '../../management/index.ts'
import type { OnCallRotationRow, Tables, Transaction } from '../../store/index.ts'
import { onCallPlans, peopleText } from './plans.ts'
import { type AddOverride, type OverrideRecord, onCallRecord, overrideRecord, type SetOnCall } from './schemas.ts'
import type { OnCallPerson, OnCallPlan, Override } from './who-is-on-call.ts'

/** Current and future overrides of a client: with more, it should change the rotation. */
const MOST_OVERRIDES = 50
const LONGEST_OVERRIDE_MS = 366 * DAY

/**
 * Sets a client's rotation, in place of the current one. Overrides of people who stay in it are kept.
 *
 * @throws AppError `not_found`, or `invalid_request` naming the person at fault
 */
export async function setOnCall(ctx: Context, clientId: string, input: SetOnCall): Promise<OnCallPlan> {
  return changePlan(ctx, clientId, async (trx, before) => {
    const people = await peopleOf(trx, clientId, input, before)
    const row: OnCallRotationRow = {
      client_id: clientId,
      people: peopleText(people),
      people_count: people.length,
      timezone: input.timezone,
      handover_weekday: input.handover_weekday,
      handover_time: input.handover_time,
      starts_on: input.starts_on,
      escalate_after_minutes: input.escalate_after_minutes ?? null,
    }
    const { client_id: _key, ...fields } = row
    await trx
      .insertInto('on_call_rotations')
      .values(row)
      .onConflict((conflict) => conflict.column('client_id').doUpdateSet(fields))
      .execute()
    const plan = await planOf(trx, clientId)
    for (const { id, personId } of plan.overrides) {
      if (plan.rotation.people.some((person) => person.id === personId)) continue
      await trx.deleteFrom('on_call_overrides').where('id', '=', id).execute()
    }
    const after = await planOf(trx, clientId)
    await writeAudit(trx, ctx, [
      {
        entity: 'on_call',
        verb: before === undefined ? 'create' : 'update',
        id: clientId,
        clientId,
        before: before === undefined ? null : audited(before),
        after: audited(after),
      },
    ])
    return after
  })
}

/**
 * Deletes a client's rotation and overrides.
 *
 * @throws AppError `not_found`
 */
export async function removeOnCall(ctx: Context, clientId: string): Promise<void> {
  await changePlan(ctx, clientId, async (trx, before) => {
    if (before === undefined) throw notFound('On-call rotation')
    await trx.deleteFrom('on_call_rotations').where('client_id', '=', clientId).execute()
    await trx.deleteFrom('on_call_overrides').where('client_id', '=', clientId).execute()
    await writeAudit(trx, ctx, [
      { entity: 'on_call', verb: 'delete', id: clientId, clientId, before: audited(before), after: null },
    ])
  })
}

/**
 * Adds an override.
 *
 * @throws AppError `not_found`, `invalid_request`, or `conflict` when there are too many
 */
export async function addOverride(ctx: Context, clientId: string, input: AddOverride): Promise<OverrideRecord> {
  return changePlan(ctx, clientId, async (trx, plan) => {
    if (plan === undefined) throw notFound('On-call rotation')
    const { people } = plan.rotation
    const now = ctx.clock.now()
    const [startsAt, endsAt] = [Date.parse(input.starts_at), Date.parse(input.ends_at)]
    if (!people.some(({ id }) => id === input.person_id)) {
      throw invalidRequest('/person_id', 'is not the id of a person in the rotation')
    }
    if (endsAt <= startsAt) throw invalidRequest('/ends_at', 'must be after the start')
    if (endsAt <= now) throw invalidRequest('/ends_at', 'must be in the future')
    if (endsAt - startsAt > LONGEST_OVERRIDE_MS) throw invalidRequest('/ends_at', 'must be within a year of starts_at')
    await trx.deleteFrom('on_call_overrides').where('client_id', '=', clientId).where('ends_at', '<=', now).execute()
    if (plan.overrides.filter((each) => each.endsAt > now).length >= MOST_OVERRIDES) {
      throw new AppError('conflict', `The client has ${MOST_OVERRIDES} overrides: delete one`)
    }
    const override: Override = { id: newOrderedId(now), personId: input.person_id, startsAt, endsAt }
    await trx
      .insertInto('on_call_overrides')
      .values({
        id: override.id,
        client_id: clientId,
        person_id: override.personId,
        starts_at: startsAt,
        ends_at: endsAt,
        created_by: ctx.actor,
      })
      .execute()
    const after = overrideRecord(override, people)
    await writeAudit(trx, ctx, [
      { entity: 'on_call_override', verb: 'create', id: override.id, clientId, before: null, after },
    ])
    return after
  })
}

/**
 * Deletes an override.
 *
 * @throws AppError `not_found`
 */
export async function deleteOverride(ctx: Context, clientId: string, id: string): Promise<void> {
  await changePlan(ctx, clientId, async (trx, plan) => {
    const override = plan?.overrides.find((each) => each.id === id)
    if (plan === undefined || override === undefined) throw notFound('Override')
    await trx.deleteFrom('on_call_overrides').where('id', '=', id).execute()
    const before = overrideRecord(override, plan.rotation.people)
    await writeAudit(trx, ctx, [{ entity: 'on_call_override', verb: 'delete', id, clientId, before, after: null }])
  })
}

/**
 * Changes a client's plan in a transaction that locks the client.
 *
 * @param change gets the current plan
 */
async function changePlan<T>(
  ctx: Context,
  clientId: string,
  change: (trx: Transaction<Tables>, before: OnCallPlan | undefined) => Promise<T>,
): Promise<T> {
  return ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockClient(trx, clientId)) === undefined) throw notFound('Client')
    return change(trx, (await onCallPlans(trx, [clientId])).get(clientId))
  })
}

async function planOf(trx: Transaction<Tables>, clientId: string): Promise<OnCallPlan> {
  const plan = (await onCallPlans(trx, [clientId])).get(clientId)
  if (plan === undefined) throw new Error('the rotation that was written is not there')
  return plan
}

/** Returns the people of the new rotation. Those who stay keep their ids. */
async function peopleOf(
  trx: Transaction<Tables>,
  clientId: string,
  { people }: SetOnCall,
  before: OnCallPlan | undefined,
): Promise<OnCallPerson[]> {
  const channels = await trx.selectFrom('client_channels').select('id').where('client_id', '=', clientId).execute()
  const taken = new Set<string>()
  return people.map(({ id, name, email = null, channel_id: channelId = null }, index) => {
    if (channelId !== null && !channels.some((channel) => channel.id === channelId)) {
      throw invalidRequest(`/people/${index}/channel_id`, 'is not the id of a channel of this client')
    }
    if (id !== undefined && !(before?.rotation.people ?? []).some((person) => person.id === id)) {
      throw invalidRequest(`/people/${index}/id`, 'is not the id of a person in the rotation: leave it out')
    }
    if (id !== undefined && taken.has(id)) throw invalidRequest(`/people/${index}/id`, 'is given twice')
    if (id !== undefined) taken.add(id)
    return { id: id ?? newId(), name: name.trim(), email: email?.trim() ?? null, channelId }
  })
}

/** Returns the plan for the audit log, without addresses, as viewers may read it. */
function audited(plan: OnCallPlan) {
  const { rotation } = onCallRecord(plan, 0, false)
  const { people = [], ...fields } = rotation ?? {}
  return { ...fields, people: people.map(({ name }) => name).join(', ') }
}

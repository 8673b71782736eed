import { type ClientRole, checkerOf, emailKey } from '../../http/index.ts'
import { type UserEntry, UserOfFile } from './file-schema.ts'
import { ConfigProblems, type Problem } from './problems.ts'
import { nameKey, problemOf, Source, sameNames, type Wanted } from './wanted.ts'
import type { YamlFile } from './yaml-file.ts'

/** A role that a file gives. A null `client` means all clients. */
export interface WantedRole {
  source: Source
  client: string | null
  role: ClientRole
}

/** A person whom the files name, recognised by the address regardless of upper and lower case. */
export interface WantedUser extends Wanted {
  email: string
  /** Null to keep their present roles. */
  roles: readonly WantedRole[] | null
}

const checkUser = checkerOf(UserOfFile)

/**
 * The people whom the files name; null when no file has a list of users. Expects files that `wantedClients` has checked.
 *
 * @throws ConfigProblems naming every fault found
 */
export function wantedUsers(files: readonly YamlFile[]): WantedUser[] | null {
  const problems: Problem[] = []
  const lists = files.flatMap((file) => {
    const { users } = file.value as { users?: unknown[] }
    return users === undefined ? [] : [{ source: new Source(file, ['users']), users }]
  })
  if (lists.length === 0) return null
  const wanted = lists.flatMap(({ source, users }) =>
    users.flatMap((user, index) => {
      const at = source.at(index)
      const wrong = checkUser(user).map((fault) => problemOf(at, fault))
      problems.push(...wrong)
      return wrong.length > 0 ? [] : wantedUser(at, user as UserEntry)
    }),
  )
  if (problems.length > 0) throw new ConfigProblems(problems)
  const faults = [...sameNames('user', wanted), ...wanted.flatMap(faultsOfRoles)]
  if (faults.length > 0) throw new ConfigProblems(faults)
  return wanted
}

function wantedUser(source: Source, { email, name, roles, ...fields }: UserEntry): WantedUser {
  return {
    ...{ source, name: emailKey(email), label: source.shown('email', emailKey(email)), email: email.trim() },
    ...{ renamedFrom: null, fields: name === undefined ? fields : { ...fields, name: name.trim() } },
    roles:
      roles?.map(({ client, role }, index) => ({
        source: source.at('roles', index),
        client: client === undefined ? null : nameKey(client.trim()),
        role,
      })) ?? null,
  }
}

function faultsOfRoles({ roles, source }: WantedUser): Problem[] {
  const entries = (source.file.value as { users: UserEntry[] }).users[Number(source.path[1])]?.roles ?? []
  const seen = new Set<string | null>()
  return (roles ?? []).flatMap(({ source: at, client }, index) => {
    const { all_clients: isOfAll, client: named } = entries[index] ?? {}
    if ((named === undefined) === (isOfAll === undefined)) {
      return [
        at.problem('a role is for one client (client: its name) or for all of them (all_clients: true): give one'),
      ]
    }
    const isTwice = seen.has(client)
    seen.add(client)
    return isTwice
      ? [at.problem(`${client === null ? 'all clients are' : `“${at.shown('client', client)}” is`} named twice`)]
      : []
  })
}

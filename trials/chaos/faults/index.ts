import type { Fault } from '../fault.ts'
import { busyKill, postgresBusyKill } from './busy-kill.ts'
import { clock } from './clock.ts'
import { failingSync, readOnlyDisk } from './failing-disk.ts'
import { fullDisk } from './full-disk.ts'
import { hostileKill, kill } from './kill.ts'
import { logTail } from './log-tail.ts'
import { postgresExhausted, postgresLocks } from './postgres-busy.ts'
import { networkCut, networkDelay, networkSilence } from './postgres-network.ts'
import { postgresHostileKill, postgresKill } from './postgres-program.ts'
import { postgresRestart, postgresSessions } from './postgres-server.ts'
import { unknownCommits } from './postgres-unknown.ts'
import { rollUpKill } from './roll-up-kill.ts'
import { slowDisk } from './slow-disk.ts'
import { tornWrite } from './torn-write.ts'

export const FAULTS: readonly Fault[] = [
  kill,
  hostileKill,
  busyKill,
  tornWrite,
  rollUpKill,
  logTail,
  fullDisk,
  readOnlyDisk,
  slowDisk,
  failingSync,
  clock,
  postgresKill,
  postgresHostileKill,
  postgresBusyKill,
  postgresRestart,
  postgresSessions,
  networkCut,
  networkSilence,
  networkDelay,
  unknownCommits,
  postgresLocks,
  postgresExhausted,
]

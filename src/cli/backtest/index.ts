import { Command, Option } from 'commander'
import { timezone } from '../options.ts'
import type { BacktestOptions, Output } from './run.ts'

const HELP = `
Judges each row as the data_volume probe would have when it came: by what is usual at its hour of the week, as learnt from the
four weeks before. Prints one line a row:

  timestamp,value,expected,score,status

score goes from 0 to 1 and grows with how surprising the value is for this series; status is what the probe would say.
The file has a header line with the columns timestamp and value, rows in order of time at a fixed step, gaps allowed. Times
are ISO 8601 or YYYY-MM-DD HH:MM:SS; without an offset they are taken as local times of --timezone.

Several series: a header with timestamp and any other columns, none of them named value. Each column is judged on its own, an empty
field is a gap, and each line begins with the name of its series.

--band adds what would have passed for the row alone: low,high. More than high is bad with --direction up or both.
--alarms prints alarms instead of rows, less than an hour apart as one: series,from,to,status,rows,value,expected,score. from and to are the
first and the last bad row, value and expected the sums of the bad rows, score the highest of them.
--labels compares alarms with known faults: a CSV file with the columns from and to, and series if it matters. Prints how many were
found, after how long, and how many alarms are false: to standard error, or with --alarms after an empty line.
--svg draws the series, their bands, the alarms and the labels.

Examples:
  npm run tagwarden -- backtest --csv events.csv
  npm run tagwarden -- backtest --csv events.csv --direction both --timezone Europe/Berlin
  npm run tagwarden -- backtest --csv events.csv --alarms --labels faults.csv --svg events.svg
  sqlite3 -header -csv counts.db "SELECT timestamp, value FROM counts" | npm run -s tagwarden -- backtest --csv -`

export function backtestCommand(output: Output = { out: process.stdout, err: process.stderr }): Command {
  return new Command('backtest')
    .description('replay series of counts through the data_volume detector')
    .requiredOption('--csv <file>', 'the series, or - for standard input')
    .addOption(
      new Option('--direction <which>', 'which deviations are bad').choices(['down', 'up', 'both']).default('down'),
    )
    .option('--timezone <zone>', 'IANA zone whose days and weeks the series follows', timezone, 'UTC')
    .addOption(new Option('--band', 'add the counts that would have passed').conflicts('alarms'))
    .option('--alarms', 'print alarms instead of rows')
    .option('--labels <file>', 'known faults to compare the alarms with')
    .option('--svg <file>', 'where to draw a picture')
    .addHelpText('after', HELP)
    .action(async (options: BacktestOptions) => {
      const { backtest } = await import('./run.ts')
      await backtest(options, output)
    })
}

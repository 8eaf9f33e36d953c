/**
 * For a shell there: runs a text of so many bytes that comes first on the standard input. One line without anything that a shell of any
 * kind would read otherwise. What PerlIO would read ahead belongs to the text's own input.
 */
export function perlFromInput(bytes: number): string {
  const read = `while(length($s)<${bytes}){sysread(STDIN,$s,${bytes}-length($s),length($s))||exit(3)}`;
  return `exec perl -e '${read}eval($s);die($@)'`;
}

/**
 * Replaces what stands between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` by the section of that name. Throws
 * when a marker has no end, or names a section that does not exist.
 */
export function fillMarkers(text: string, sections: Readonly<Record<string, string>>): string {
  const starts = text.match(/<!-- bench:[\w-]+ -->/g) ?? [];
  let filled = 0;
  const result = text.replace(
    /(<!-- bench:([\w-]+) -->\n)[\s\S]*?(<!-- \/bench:\2 -->)/g,
    (_, start: string, name: string, end: string) => {
      const section = sections[name];
      if (section === undefined) throw new Error(`there is no section ${name}`);
      filled++;
      return `${start}\n${section}\n\n${end}`;
    },
  );
  if (filled !== starts.length) throw new Error('a marker has no end');
  return result;
}

#!/usr/bin/python3
"""Makes English and French word vectors out of the translated messages in Debian packages.

A French catalogue (.mo) pairs every English message of a program with its translation. Words that
keep meeting in such pairs mean the same, so their association is measured over all pairs and
factored into vectors of 300 dims, in which a French word lies near its English translation.

The packages are downloaded with apt-get and read, not installed. Needs Debian's python3-numpy and
python3-scipy. The same package versions give the same vectors; nothing is random.
"""
import argparse
import collections
import gettext
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

import numpy
import scipy.linalg
import scipy.sparse

# Large French catalogues, from system tools to office, money, games, family trees and drawing.
PACKAGES = """
    apt aptitude-common audacity-data bash binutils-common claws-mail-i18n coreutils darktable dpkg
    evolution-common freeciv-data gcc-12-locales git gnucash-common gnumeric-common gnupg-l10n
    gramps grisbi-common grub-common homebank-data krita-l10n libc-l10n libglib2.0-data
    libgtk-3-common libreoffice-l10n-fr mutt nautilus-data phpmyadmin pidgin-data subversion
    tuxpaint-data util-linux-locales wget wordpress-l10n
""".split()

WORDS = 2000
DIMS = 300

CATALOGUE = re.compile(r"/(fr|fr_FR)(/LC_MESSAGES/[^/]+)?\.mo$")

# What is in a message without being language. French keeps it as it is.
NOT_LANGUAGE = re.compile(r"""
    <[^<>]*> | &\#?\w+;                          # markup
  | https?:\S+
  | (?<!\S)--?[\w-]+                             # an option of a program
  | \$?[({]\w*[)}] | \$\[\w+\] | \$\w+ | %[A-Z]\w+  # a place to be filled
  | %(\(\w*\)|\d+\$)?[-+\ \#0-9.*']*(ll|[hljzt])?[A-Za-z]
  | \\[nt]
""", re.VERBOSE)
SHORTCUT = re.compile(r"[_&~](?=[^\W\d_])")      # the key of a menu's entry: "_File", "E&xit"

LETTER = "a-z\u00e0-\u00f6\u00f8-\u00ff\u0153"
ENGLISH_WORD = re.compile(f"[{LETTER}]+(?:'[{LETTER}]+)?")  # don't
FRENCH_WORD = re.compile(f"[{LETTER}]+(?:'(?=[{LETTER}]))?")  # l'utilisateur: l' and utilisateur
ENGLISH_LETTERS = {"a", "i"}                     # the words of one letter
FRENCH_LETTERS = {"a", "y", "\u00e0"}
ELISIONS = {head + "'" for head in "c d j l m n qu s t jusqu lorsqu puisqu quelqu aujourd".split()}


def download(folder):
    """Puts the packages into the folder."""
    subprocess.run(["apt-get", "download", "--quiet", *PACKAGES], cwd=folder, check=True)


def package_field(package, field):
    return subprocess.run(["dpkg-deb", "--field", package, field], check=True,
                          capture_output=True, text=True).stdout.strip()


def messages_of(package):
    """The pairs of an English message and its translation in a package, in a fixed order."""
    content = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True,
                             capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as files:
        members = [member for member in files if member.isfile() and CATALOGUE.search(member.name)]
        for member in sorted(members, key=lambda found: found.name):
            catalogue = gettext.GNUTranslations(files.extractfile(member))
            # gettext has no public way to list a catalogue. A plural is (msgid, number of form).
            for identifier, translation in catalogue._catalog.items():
                form = 0
                if isinstance(identifier, tuple):
                    identifier, form = identifier
                english = identifier.split("\x04")[-1]  # without the context
                if english and form == 0 and english != translation:
                    yield english, translation


def plain(message):
    """The message in small letters, without markup, places to be filled and the keys of menus."""
    text = NOT_LANGUAGE.sub(" ", message)
    return SHORTCUT.sub("", text).lower().replace("\u2019", "'")


def english_words(message):
    words = ENGLISH_WORD.findall(plain(message))
    return {word for word in words if len(word) > 1 or word in ENGLISH_LETTERS}


def french_words(message):
    words = FRENCH_WORD.findall(plain(message))
    return {word for word in words if word in ELISIONS | FRENCH_LETTERS
            or len(word) > 1 and not word.endswith("'")}


def count(pairs_by_package, side):
    """For each word: in how many pairs it is, and how common it is over all packages.

    The logarithm keeps one large catalogue from filling the vocabulary with its own trade.
    """
    pairs, common = collections.Counter(), collections.Counter()
    for of_package in pairs_by_package:
        here = collections.Counter(word for pair in of_package for word in sorted(pair[side]))
        for word, number in here.items():
            pairs[word] += number
            common[word] += numpy.log1p(number)
    return pairs, common


def vocabularies(pairs_by_package):
    """The WORDS most common words of each language, the most common first."""
    (english, english_common), (french, french_common) = (
        count(pairs_by_package, side) for side in (0, 1))
    # A word that English has five times as often is a name or command left in a French message.
    candidates = [word for word in french if 5 * french[word] > english[word]]

    def first(words, common):
        return sorted(words, key=lambda word: (-common[word], word))[:WORDS]

    return first(english, english_common), first(candidates, french_common)


def incidence(pairs, side, vocabulary):
    """[pairs, words]: 1 where the word is in the pair."""
    column_of = {word: column for column, word in enumerate(vocabulary)}
    places = [(row, column_of[word]) for row, pair in enumerate(pairs)
              for word in pair[side] if word in column_of]
    rows, columns = zip(*places)
    return scipy.sparse.csr_matrix((numpy.ones(len(rows)), (rows, columns)),
                                   shape=(len(pairs), len(vocabulary)))


def association(english, french):
    """[English words, French words]: how much more often than by chance two words meet.

    The square root of Dunning's log-likelihood ratio (1993, "Accurate Methods for the Statistics of
    Surprise and Coincidence"), and 0 for words that meet less often than by chance.
    """
    def entropic(counts):
        return numpy.where(counts > 0, counts * numpy.log(numpy.maximum(counts, 1)), 0)

    pairs = english.shape[0]
    both = (english.T @ french).toarray()
    one = numpy.asarray(english.sum(axis=0)).reshape(-1, 1)
    other = numpy.asarray(french.sum(axis=0)).reshape(1, -1)
    ratio = 2 * (entropic(both) + entropic(one - both) + entropic(other - both)
                 + entropic(pairs - one - other + both) + pairs * numpy.log(pairs)
                 - entropic(one) - entropic(pairs - one)
                 - entropic(other) - entropic(pairs - other))
    return numpy.sqrt(numpy.where(both * pairs > one * other, numpy.maximum(ratio, 0), 0))


def factors(matrix):
    """The best approximation of rank DIMS as left @ right.T, rows scaled to unit length."""
    left, values, right = scipy.linalg.svd(matrix, full_matrices=False)
    # The sign of a pair of singular vectors is free: the left one's largest element is positive.
    largest = numpy.argmax(numpy.abs(left), axis=0)
    signs = numpy.sign(left[largest, numpy.arange(left.shape[1])])
    roots = (signs * numpy.sqrt(values))[:DIMS]
    return [rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
            for rows in (left[:, :DIMS] * roots, right[:DIMS].T * roots)]


def check(english, english_vectors, french, french_vectors, expected):
    """How many of the expected French words have their translation as the nearest English word."""
    nearest = numpy.argmax(french_vectors @ english_vectors.T, axis=1)
    found = {word: english[nearest[row]] for row, word in enumerate(french)}
    asked = [line.split() for line in expected.read_text("utf-8").splitlines()]
    known = [(word, translations) for word, *translations in asked if word in found]
    wrong = [f"{word}->{found[word]}" for word, translations in known
             if found[word] not in translations]
    return len(known) - len(wrong), len(known), wrong


def read(folder):
    """What was read from each package, and its pairs of (English words, French words).

    A pair that an earlier package has too, as programs share messages, is left out.
    """
    sources, pairs_by_package, seen = [], [], set()
    for name in PACKAGES:
        package, = folder.glob(f"{name}_*.deb")  # exactly one
        messages, pairs = 0, []
        for english, french in messages_of(package):
            messages += 1
            pair = english_words(english), french_words(french)
            key = tuple(tuple(sorted(words)) for words in pair)
            if all(pair) and key not in seen:
                seen.add(key)
                pairs.append(pair)
        pairs_by_package.append(pairs)
        sources.append({"package": name, "version": package_field(package, "Version"),
                        "messages": messages, "new_pairs": len(pairs)})
    return sources, pairs_by_package


def write(folder, vocabulary_by_language, vectors_by_language, facts):
    folder.mkdir(parents=True, exist_ok=True)
    for language, vocabulary, vectors in zip(("english", "french"), vocabulary_by_language,
                                             vectors_by_language):
        (folder / f"{language}.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
        numpy.save(folder / f"{language}.npy", vectors)
    (folder / "sources.json").write_text(json.dumps(facts, indent=1) + "\n", "ascii")


def main():
    here = pathlib.Path(__file__).resolve().parent
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--packages", type=pathlib.Path, metavar="FOLDER",
                           help="read the .deb files in this folder and download nothing")
    arguments.add_argument("--output", type=pathlib.Path, metavar="FOLDER",
                           default=here.parent / "examples" / "word_vectors")
    chosen = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        if not chosen.packages:
            download(folder)
        sources, pairs_by_package = read(chosen.packages or pathlib.Path(folder))
    words = vocabularies(pairs_by_package)
    pairs = [pair for of_package in pairs_by_package for pair in of_package]
    exact = factors(association(*(incidence(pairs, side, words[side]) for side in (0, 1))))
    vectors = [rows.astype(numpy.float16, order="C") for rows in exact]

    english, french = (rows.astype(numpy.float32) for rows in vectors)  # as they are written
    spread = numpy.sqrt((french @ english.T).var(axis=1).mean())  # of a row of dot products
    right, known, wrong = check(words[0], english, words[1], french,
                                here / "word_translations.txt")
    write(chosen.output, words, vectors, {
        "pairs": len(pairs), "words": WORDS, "dims": DIMS, "spread": round(float(spread), 4),
        "nearest_is_translation": {"right": right, "of": known}, "packages": sources})
    print(f"{len(pairs)} pairs of messages, {WORDS} words a language, {DIMS} dims\n"
          f"spread of the dot products of a French word with all English words: {spread:.4f}\n"
          f"the nearest English word is the translation: {right} of {known} French words; "
          f"wrong: {', '.join(wrong) or 'none'}")


if __name__ == "__main__":
    main()
